import EventLoop
import Glibc
internal import Orchestrator
internal import Stoic

/// The foreground half of `up --detach`: starts this same program again in a session of its own,
/// shows what it says until it reports, and goes.
///
/// There is no fork: `posix_spawn` runs this program's own file, so no half-copied process ever
/// exists.
/// The child holds one end of a socket; a byte on it is the report, its end without a byte means
/// that the child ended first, and then its exit code is ours.
struct DetachedLaunch {
    let program: String
    let arguments: [String]
    private let console: Console
    private let limit: Duration

    /// - Parameters:
    ///   - arguments: The command line of the child, its name first.
    ///   - limit: How long the child may take until it reports.
    ///   - program: What runs; this program again, unless a test says otherwise.
    init(
        _ arguments: [String], console: Console, limit: Duration,
        program: String = Self.ownProgram()
    ) {
        self.program = program
        self.arguments = arguments
        self.console = console
        self.limit = limit
    }

    /// The file this program was started from. The link itself would make `exe` the name of the
    /// engine in `ps`; only where the file was replaced meanwhile does it have to do.
    static func ownProgram() -> String {
        let link = "/proc/self/exe"
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        // SAFETY: the call is told how much room the array has.
        let length = unsafe readlink(link, &bytes, bytes.count)
        guard length > 0 else { return link }
        let path = String(
            decoding: bytes.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return unsafe access(path, X_OK) == 0 ? path : link
    }

    /// The command line of the child.
    static func commandLine(_ invocation: Invocation) -> [String] {
        var words = [CommandTable.program]
        if let file = invocation.globals.file { words.append("--file=\(file)") }
        if invocation.globals.json { words.append(OptionName.json.spelled) }
        words += [invocation.verb.rawValue, OptionName.detachedChild.spelled]
        if invocation.has(.wait) { words.append(OptionName.wait.spelled) }
        return words + ["--"] + invocation.arguments
    }

    /// Returns when the child has reported, has ended, or the limit has passed.
    /// - Returns: What it came to; `nil` when another engine was faster, which is to be asked.
    func run() throws(Failure) -> ExitCode? {
        let report = try Pair(.socket)
        let output = try Pair(.pipe)
        let child = try spawn(report: report.theirs, output: output.theirs)
        report.closeTheirs()
        output.closeTheirs()
        defer {
            report.closeOurs()
            output.closeOurs()
        }
        let deadline = awakeTime() + limit.clamped
        switch watch(report: report.ours, output: output.ours, until: deadline) {
        case .reported:
            return succeed(child)
        case .runsAlready:
            _ = try ended(child)
            return nil
        case .failed(let words):
            throw Failure(
                .serviceFailed, words.isEmpty ? ExitCode.serviceFailed.meaning : words,
                hint: "The rest runs on (engine pid \(child)): see it with "
                    + "'\(CommandTable.program) status', end it with "
                    + "'\(CommandTable.program) down'.")
        case .ended:
            return try ended(child)
        case .timedOut:
            throw Failure(
                .timedOut,
                "not up after \(humanDuration(limit)); it goes on in the background "
                    + "(engine pid \(child))",
                hint: "See '\(CommandTable.program) status'.")
        }
    }

    // MARK: - Watching

    private enum Outcome {
        case reported, runsAlready, ended, timedOut
        case failed(String)
    }

    private func watch(
        report: CInt, output: CInt, until deadline: Duration
    ) -> Outcome {
        var watched = [
            pollfd(fd: report, events: Int16(POLLIN), revents: 0),
            pollfd(fd: output, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let left = deadline - awakeTime()
            guard left > .zero else { return .timedOut }
            // poll(2) takes at most 24 days at once; then it is asked again.
            let milliseconds = CInt(min(wholeMilliseconds(left) + 1, 2_000_000_000))
            // SAFETY: there are two entries, and `poll` keeps no pointer to them.
            guard unsafe poll(&watched, 2, milliseconds) > 0 else { continue }
            // What was said comes before the report, so it is shown before we leave.
            if watched[1].revents != 0, !relay(output) { watched[1].fd = -1 }
            if watched[0].revents != 0 {
                let outcome = takeReport(report)
                while relay(output, isWaiting: false) {}
                return outcome
            }
        }
    }

    private func takeReport(_ report: CInt) -> Outcome {
        var byte: UInt8 = 0
        while true {
            // SAFETY: there is room for the one byte that is asked for.
            let count = unsafe recv(report, &byte, 1, 0)
            if count == 1, byte == DetachedChild.readyByte { return .reported }
            if count == 1, byte == DetachedChild.runsAlreadyByte { return .runsAlready }
            if count == 1, byte == DetachedChild.failedByte { return .failed(rest(of: report)) }
            if count >= 0 || errno != EINTR { return .ended }
        }
    }

    /// The words behind a report, which the child has sent with it and then let go.
    private func rest(of report: CInt) -> String {
        var words: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            // SAFETY: the call is told how much room the array has.
            let count = unsafe recv(report, &buffer, buffer.count, 0)
            guard count > 0 else {
                if count < 0, errno == EINTR { continue }
                return String(decoding: words, as: UTF8.self)
            }
            words += buffer[..<count]
        }
    }

    /// Shows what the child said. `false` at its end, or when there is nothing and we do not wait.
    private func relay(_ output: CInt, isWaiting: Bool = true) -> Bool {
        // SAFETY: `poll` gets one entry, and `read` is told how much room the array has.
        if !isWaiting {
            var ready = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&ready, 1, 0) > 0 else { return false }
        }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe read(output, &buffer, buffer.count)
        guard count > 0 else { return count < 0 && errno == EINTR }
        console.note(raw: buffer[..<count])
        return true
    }

    // MARK: - The end

    private func succeed(_ child: pid_t) -> ExitCode {
        if console.json {
            let result: JSONValue = ["exitCode": 0, "pid": .integer(Int64(child))]
            console.answer(JSONValue.object(["result": result]).description)
        } else {
            console.answer("running in the background (engine pid \(child))")
        }
        return .done
    }

    /// The child let go of the socket, which it does by ending: this returns at once.
    private func ended(_ child: pid_t) throws(Failure) -> ExitCode {
        var status: CInt = 0
        // SAFETY: `waitpid` fills one number.
        while unsafe waitpid(child, &status, 0) != child {
            guard errno == EINTR else {
                throw Failure(
                    .defect, "lost the background process: \(SystemError.meaning(of: errno))")
            }
        }
        let (signal, code) = (status & 0x7f, status >> 8 & 0xff)
        guard signal == 0 else {
            let name = "SIG" + signalText(signal)
            throw Failure(.defect, "the background process was ended by \(name)")
        }
        // It has said why itself.
        return ExitCode(number: code)
    }
}
