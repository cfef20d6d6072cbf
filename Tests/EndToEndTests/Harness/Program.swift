import CBench
import Glibc

/// How a program of a case is started.
struct Launch {
    var arguments: [String]
    /// Appended to the bench's environment.
    var environment: [String: String] = [:]
    var directory: String?
    /// On a pseudo terminal of its own, session and all.
    var isOnTerminal = false
    /// Standard descriptors that are closed.
    var closed: Set<Int> = []
    /// One of ours, kept open under a number of its own.
    var extra: (from: CInt, to: CInt)?
    var ignored: [CInt] = []
    var blocked: [CInt] = []
    /// The limit on open files.
    var descriptors: UInt64 = 0
    /// Whether it is the program under test: it must never crash.
    var isOurs = true
    /// What it is run as; `nil` is the bench's.
    var identity: Identity?
    /// What becomes of `tostop` on its terminal.
    var stopsBackgroundOutput = false

    init(_ arguments: [String]) { self.arguments = arguments }
}

/// How a program ended.
enum Ending: Equatable, CustomStringConvertible {
    case exited(Int32)
    case killed(Int32)

    var description: String {
        switch self {
        case .exited(let code): "exit code \(code)"
        case .killed(let signal): "signal \(signal)"
        }
    }

    /// A trap, an assertion or a broken access, of the program or of one it speaks for.
    var isCrash: Bool {
        switch self {
        case .exited(let code): [132, 134, 139].contains(code)
        case .killed(let signal):
            [SIGILL, SIGABRT, SIGSEGV, SIGTRAP, SIGBUS, SIGFPE].contains(signal)
        }
    }
}

/// A program a case started: its output as it arrives, and how it ended.
@BenchActor
final class Program {
    /// Its arguments, for messages.
    let name: String
    let pid: pid_t
    let isOurs: Bool
    /// Whether a case has looked at its end itself.
    var mayCrash = false
    /// When it was started, and when it was seen to have ended.
    let begun: Duration
    private(set) var ended: Duration?
    private(set) var ending: Ending?
    /// What it wrote to stdout, or to its terminal.
    var output: String { String(decoding: bytes, as: UTF8.self) }
    /// What it wrote to stderr.
    var errors: String { String(decoding: errorBytes, as: UTF8.self) }
    private(set) var bytes: [UInt8] = []
    private var errorBytes: [UInt8] = []

    private let pidfd: CInt
    /// Read ends of its output; -1 once they hung up.
    private var outputEnd: CInt
    private var errorEnd: CInt
    /// The controlling side of its terminal.
    private let controller: CInt?

    init(_ launch: Launch, bench: Bench) throws {
        name = launch.arguments.map { $0.split(separator: "/").last.map(String.init) ?? $0 }
            .joined(separator: " ")
        isOurs = launch.isOurs
        let streams = try Streams(launch, owner: launch.identity ?? bench.identity)
        begun = Moment.now
        let pid = Self.start(launch, bench, streams.child)
        streams.closeChildEnds()
        guard pid > 0 else {
            streams.closeOurEnds()
            throw BenchError("cannot start \(name): error \(-pid)")
        }
        self.pid = pid
        pidfd = cbench_pidfd(pid)
        outputEnd = streams.output
        errorEnd = streams.errors
        controller = launch.isOnTerminal ? streams.output : nil
    }

    deinit {
        for end in Set([outputEnd, errorEnd, pidfd]) where end >= 0 { close(end) }
    }

    /// Whether output may still come.
    var isOpen: Bool { outputEnd >= 0 || errorEnd >= 0 }

    /// What to poll for news of it.
    var descriptors: [CInt] {
        [outputEnd, errorEnd, ending == nil ? pidfd : -1].filter { $0 >= 0 }
    }

    /// Reads what came. Never waits.
    func gather() {
        outputEnd = Self.drain(outputEnd, into: &bytes)
        errorEnd = Self.drain(errorEnd, into: &errorBytes)
        guard ending == nil else { return }
        var code: CInt = 0
        var wasKilled = false
        guard unsafe cbench_reap(pidfd, &code, &wasKilled) else { return }
        ended = Moment.now
        ending = wasKilled ? .killed(code) : .exited(code)
        // What it wrote between the look at its output and its end is there by now.
        outputEnd = Self.drain(outputEnd, into: &bytes)
        errorEnd = Self.drain(errorEnd, into: &errorBytes)
    }

    /// Sends a signal; nothing happens if it has ended.
    func signal(_ number: CInt) {
        if ending == nil { cbench_signal(pidfd, number) }
    }

    /// Types on its terminal.
    func type(_ text: String) {
        guard let controller else { return }
        var typed = Array(text.utf8)
        _ = unsafe write(controller, &typed, typed.count)
    }

    /// Closes the terminal under it.
    func hangUp() {
        guard let controller, outputEnd >= 0 else { return }
        close(controller)
        outputEnd = -1
    }

    private static func drain(_ end: CInt, into bytes: inout [UInt8]) -> CInt {
        guard end >= 0 else { return -1 }
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe read(end, &chunk, chunk.count)
            if count > 0 {
                bytes += chunk[..<count]
            } else if count < 0, errno == EAGAIN || errno == EINTR {
                return end
            } else {
                close(end)
                return -1
            }
        }
    }

    private static func start(_ launch: Launch, _ bench: Bench, _ child: [CInt]) -> pid_t {
        let variables = bench.baseEnvironment.merging(launch.environment) { $1 }
        let identity = launch.identity ?? bench.identity
        return unsafe CStrings.with(launch.arguments) { arguments in
            unsafe CStrings.with(variables.map { "\($0.key)=\($0.value)" }) { environment in
                unsafe (launch.directory ?? bench.directory).withCString { directory in
                    let closed = launch.closed
                    var plan = unsafe cbench_launch(
                        arguments: arguments, environment: environment, directory: directory,
                        standard: (
                            closed.contains(0) ? -1 : child[0],
                            closed.contains(1) ? -1 : child[1],
                            closed.contains(2) ? -1 : child[2]
                        ),
                        extra_from: launch.extra?.from ?? -1, extra_to: launch.extra?.to ?? -1,
                        user: identity.user ?? -1, group: identity.group ?? -1,
                        owns_terminal: launch.isOnTerminal, owns_session: !launch.isOnTerminal,
                        ignored: bits(launch.ignored), blocked: bits(launch.blocked),
                        descriptors: launch.descriptors, file_size: 0)
                    return unsafe cbench_start(&plan)
                }
            }
        }
    }

    private static func bits(_ signals: [CInt]) -> UInt64 {
        signals.reduce(0) { $0 | 1 << UInt64($1 - 1) }
    }
}

/// Both ends of a program's standard descriptors.
private struct Streams {
    /// What the child gets as 0, 1 and 2.
    let child: [CInt]
    let output: CInt
    let errors: CInt

    init(_ launch: Launch, owner: Identity) throws {
        if launch.isOnTerminal {
            var controller: CInt = -1
            var terminal: CInt = -1
            let result = unsafe cbench_terminal(&controller, &terminal, owner.user ?? -1)
            guard result == 0 else { throw BenchError("cannot open a terminal: error \(-result)") }
            if launch.stopsBackgroundOutput { cbench_stop_background_output(terminal) }
            child = [terminal, terminal, terminal]
            output = controller
            errors = -1
        } else {
            let nowhere = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
            let (readOutput, writeOutput) = try Self.pipe()
            let (readErrors, writeErrors) = try Self.pipe()
            child = [nowhere, writeOutput, writeErrors]
            output = readOutput
            errors = readErrors
        }
    }

    func closeChildEnds() {
        for end in Set(child) { close(end) }
    }

    func closeOurEnds() {
        for end in [output, errors] where end >= 0 { close(end) }
    }

    private static func pipe() throws -> (read: CInt, write: CInt) {
        var ends: [CInt] = [-1, -1]
        guard unsafe cbench_pipe(&ends) == 0 else {
            throw BenchError("cannot make a pipe: error \(errno)")
        }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        return (ends[0], ends[1])
    }
}

/// An array of C strings that lives as long as a call.
enum CStrings {
    static func with<R>(
        _ strings: [String],
        _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R
    ) -> R {
        let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(
            capacity: strings.count + 1)
        for (index, string) in strings.enumerated() {
            unsafe (pointers + index).initialize(to: strdup(string))
        }
        unsafe (pointers + strings.count).initialize(to: nil)
        defer {
            for index in strings.indices { unsafe free(pointers[index]) }
            unsafe pointers.deallocate()
        }
        return unsafe body(pointers)
    }
}
