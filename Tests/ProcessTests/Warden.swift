import CProcess
import Glibc
import Testing

/// The fixture that runs one scenario in a process of its own: launches, signals and reaping are
/// about a whole process and its main thread.
struct Warden {
    /// Features that are taken away, and whether each launch gets a cgroup.
    enum Kernel: String, CaseIterable, CustomTestStringConvertible {
        case full
        case copiedTable
        case numberedReaping
        case withoutLists
        case cgroups
        case cgroupsRefused

        var testDescription: String { rawValue }

        var arguments: [String] {
            switch self {
            case .full: []
            case .copiedTable: ["--without", "3"]
            case .numberedReaping: ["--without", "8"]
            case .withoutLists: ["--without", "12"]
            case .cgroups: ["--cgroup"]
            case .cgroupsRefused: ["--cgroup", "--without", "3"]
            }
        }

        /// Without a cgroup tree to write to there is nothing to try.
        static var here: [Kernel] {
            allCases.filter {
                switch $0 {
                case .full, .copiedTable, .numberedReaping, .withoutLists: true
                case .cgroups: Warden.hasCgroups
                case .cgroupsRefused: false
                }
            }
        }
    }

    struct Result {
        let status: cproc_exit
        let output: String

        var code: Int32 { status.by_signal ? -status.value : status.value }
    }

    static let hasCgroups: Bool = {
        let result = Warden.runHere("leaf-again", .full)
        if result.code == 77 { complain("SKIPPED: no cgroup2 tree to write to: \(result.output)") }
        return result.code != 77
    }()

    /// The directory of the build: that of the test bundle.
    private static let built: String = {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe buffer.withUnsafeMutableBytes {
            guard let base = $0.baseAddress else { return 0 }
            return unsafe readlink("/proc/self/exe", base, $0.count)
        }
        let path = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        return path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
    }()

    /// Runs a scenario to its end, at most 50 s. `closing` are descriptors it starts without;
    /// `shell` runs before it, in the shell that becomes it.
    ///
    /// The wait has a thread of its own: those of the tests' pool are few, and a test that keeps
    /// one lets the time of the others run out.
    static func run(
        _ scenario: String, _ kernel: Kernel, closing: [CInt] = [], shell: String = ""
    ) async -> Result {
        await withCheckedContinuation { done in
            onThread { done.resume(returning: runHere(scenario, kernel, closing, shell)) }
        }
    }

    private static func runHere(
        _ scenario: String, _ kernel: Kernel, _ closing: [CInt] = [], _ shell: String = ""
    ) -> Result {
        let words = [built + "/warden", scenario, built + "/runaway"] + kernel.arguments
        return run(["/bin/sh", "-c", shell + " exec \"$@\"", "sh"] + words, closing: closing)
    }

    private static func run(_ command: [String], closing: [CInt]) -> Result {
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return failure("no pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        for target: CInt in [1, 2] {
            unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], target)
        }
        for number in closing { _ = unsafe posix_spawn_file_actions_addclose(&actions, number) }
        var words: [UnsafeMutablePointer<CChar>?] = unsafe command.map { unsafe strdup($0) }
        unsafe words.append(nil)
        var pid: pid_t = 0
        let error = unsafe posix_spawn(&pid, command[0], &actions, nil, &words, environ)
        unsafe words.forEach { unsafe free($0) }
        unsafe posix_spawn_file_actions_destroy(&actions)
        close(ends[1])
        guard error == 0 else { return failure("cannot run \(command[0]): error \(error)") }
        return finish(pid, output: ends[0])
    }

    private static func failure(_ text: String) -> Result {
        Result(
            status: cproc_exit(pid: 0, value: 70, by_signal: false, dumped_core: false),
            output: text)
    }

    /// Reads until the end of the output, then takes the status.
    private static func finish(_ pid: pid_t, output: CInt) -> Result {
        let deadline = cproc_clock(CLOCK_MONOTONIC) + 50_000_000_000
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        var status = cproc_exit()
        let exit = cproc_pidfd_open(pid)
        defer { if exit >= 0 { close(exit) } }
        var hasEnded = false
        while true {
            var waits = [
                pollfd(fd: hasEnded ? -1 : output, events: Int16(POLLIN), revents: 0),
                pollfd(fd: exit, events: Int16(POLLIN), revents: 0),
            ]
            let left = (deadline - cproc_clock(CLOCK_MONOTONIC)) / 1_000_000
            guard left > 0, unsafe poll(&waits, 2, CInt(left)) > 0 else {
                _ = cproc_signal_child(pid, SIGKILL)
                bytes += Array("\nkilled after 50 s".utf8)
                break
            }
            if waits[0].revents != 0 {
                let count = unsafe read(output, &buffer, buffer.count)
                if count > 0, bytes.count < 65536 { bytes += buffer[..<count] }
                hasEnded = count <= 0
            }
            if hasEnded, waits[1].revents != 0 { break }
        }
        var waited = unsafe cproc_reap(pid, &status)
        while waited == EAGAIN {
            var wait = pollfd(fd: exit, events: Int16(POLLIN), revents: 0)
            unsafe poll(&wait, 1, 1000)
            waited = unsafe cproc_reap(pid, &status)
        }
        return Result(status: status, output: String(decoding: bytes, as: UTF8.self))
    }
}

/// Expects that a scenario holds; one that is not permitted here says so aloud.
func expectHolds(
    _ scenario: String, _ kernel: Warden.Kernel = .full, closing: [CInt] = [], shell: String = "",
    _ location: SourceLocation = #_sourceLocation
) async {
    let result = await Warden.run(scenario, kernel, closing: closing, shell: shell)
    if result.code == 77 { return complain("SKIPPED \(scenario): not permitted here") }
    #expect(result.code == 0, "\(result.output)", sourceLocation: location)
}

/// What a thread is to do.
private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func onThread(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
    let result = unsafe pthread_create(
        &thread, nil,
        { context in
            if let context = unsafe context {
                unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
            }
            return unsafe UnsafeMutableRawPointer(bitPattern: 0)
        }, work)
    precondition(result == 0, "cannot start a thread: error \(result)")
    pthread_detach(thread)
}

/// To the log of the test run.
func complain(_ text: String) {
    let line = text + "\n"
    _ = unsafe write(2, line, line.utf8.count)
}
