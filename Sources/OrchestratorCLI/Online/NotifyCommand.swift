import CLifecycle
import EventLoop
import Glibc
import Stoic

/// The message `notify` sends, as its lines.
struct NotifyMessage: Hashable, Sendable {
    /// `KEY=value`, without newlines, in the order they are sent.
    private(set) var lines: [String] = []

    /// - Parameter caller: The process that runs this program: what `--pid` without a value means.
    init(_ invocation: Invocation, caller: Int32) {
        if invocation.has(.ready) { add("READY", "1") }
        if invocation.has(.stopping) { add("STOPPING", "1") }
        if invocation.has(.reloading) {
            add("RELOADING", "1")
            add("MONOTONIC_USEC", String(wholeMicroseconds(awakeTime())))
        }
        if invocation.has(.watchdog) { add("WATCHDOG", "1") }
        if let text = invocation.text(.status) { add("STATUS", text) }
        if let duration = invocation.duration(.extend) {
            add("EXTEND_TIMEOUT_USEC", String(wholeMicroseconds(duration)))
        }
        if invocation.has(.pid) { add("MAINPID", String(invocation.count(.pid) ?? Int(caller))) }
        lines += invocation.arguments
    }

    /// A newline would begin another field, so control characters become spaces.
    private mutating func add(_ key: String, _ value: String) {
        let scalars = value.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }
        lines.append("\(key)=" + String(String.UnicodeScalarView(scalars)))
    }

    /// What goes over the wire.
    var text: String { lines.map { $0 + "\n" }.joined() }
}

extension CommandRun {
    /// `notify`: one message about the service this runs in, to whoever supervises it.
    func notify() throws(Failure) -> ExitCode {
        let message = NotifyMessage(invocation, caller: getppid())
        // SAFETY: the text ends with a zero and lives through the call, which sends it.
        try check(unsafe clc_notify(message.text))
        // The message is judged by its sender, which must live until it has been read.
        let read = clc_notify_barrier(Self.barrierLimit)
        if read == -ETIMEDOUT {
            throw Failure(.timedOut, "the message was sent, but nobody read it within 5 s")
        }
        try check(read)
        return .done
    }

    /// As long as `systemd-notify` waits.
    private static let barrierLimit: UInt64 = 5_000_000

    private func check(_ result: CInt) throws(Failure) {
        if result > 0 { return }
        guard result < 0 else {
            throw Failure(
                .nothingRuns, "cannot notify: NOTIFY_SOCKET is not set",
                hint: "This works inside a service whose readiness is 'notify'.")
        }
        let code: ExitCode = result == -EACCES || result == -EPERM ? .notPermitted : .nothingRuns
        throw Failure(code, "cannot notify: \(SystemError.meaning(of: -result))")
    }
}

private func wholeMicroseconds(_ duration: Duration) -> Int64 {
    let parts = duration.components
    return parts.seconds * 1_000_000 + parts.attoseconds / 1_000_000_000_000
}
