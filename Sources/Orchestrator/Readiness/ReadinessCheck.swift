import EventLoop
import Glibc
import Manifest

/// What the engine tells a watch.
enum ReadinessFact: Hashable {
    /// The service said `READY=1`.
    case notified
    /// The service ended with success.
    case completed
    /// The main process has ended: what is in a pipe is all there will be.
    case drained
}

/// One kind of being ready. It calls what it was made with once it holds, at most once, never from
/// `begin` and never after `close`.
protocol ReadinessCheck: AnyObject {
    /// What is missing, or why the last try failed, in words.
    var missing: String { get }
    /// Starts to watch.
    func begin()
    /// The engine has something to tell.
    func note(_ fact: ReadinessFact)
    /// The service wrote this.
    func noteOutput(_ bytes: UnsafeRawBufferPointer)
    /// Stops to watch and releases everything. May be called again.
    func close()
}

extension ReadinessCheck {
    func note(_ fact: ReadinessFact) {}
    func noteOutput(_ bytes: UnsafeRawBufferPointer) {}
}

/// Makes the check for a definition. Takes the pipe it needs out of `pipes`.
func makeCheck(
    _ definition: ReadyDefinition, _ context: ReadinessContext, _ pipes: inout [Int32: CInt],
    _ onMet: @escaping () -> Void
) -> any ReadinessCheck {
    switch definition {
    case .started(let duration):
        DelayCheck(context, duration, "it has not been up for \(duration)", onMet)
    case .delay(let duration):
        DelayCheck(context, duration, "less than \(duration.words) have passed", onMet)
    case .notify: FactCheck(.notified, "no READY=1 yet", onMet)
    case .completion: FactCheck(.completed, "it has not completed yet", onMet)
    case .descriptor(let number):
        DescriptorCheck(context, number, pipes.removeValue(forKey: number), onMet)
    case .tcp(let host, let port):
        RepeatedCheck(context, TCPProbe(context, host: host, port: port), onMet)
    case .unix(let path): RepeatedCheck(context, UnixProbe(path: path), onMet)
    case .exec(let templates, let timeout):
        RepeatedCheck(context, ExecProbe(context, templates, timeout: timeout), onMet)
    case .file(let path): RepeatedCheck(context, FileProbe(path: path), onMet)
    case .log(let pattern): LogCheck(pattern, onMet)
    case .all(let parts): CombinedCheck(.all, parts, context, &pipes, onMet)
    case .any(let parts): CombinedCheck(.any, parts, context, &pipes, onMet)
    }
}

/// Waits for something only the engine can tell.
final class FactCheck: ReadinessCheck {
    let missing: String
    private let fact: ReadinessFact
    private var onMet: (() -> Void)?

    init(_ fact: ReadinessFact, _ missing: String, _ onMet: @escaping () -> Void) {
        self.fact = fact
        self.missing = missing
        self.onMet = onMet
    }

    func begin() {}

    func note(_ fact: ReadinessFact) {
        guard fact == self.fact, let onMet else { return }
        self.onMet = nil
        onMet()
    }

    func close() { onMet = nil }
}

/// Waits for time to pass.
final class DelayCheck: ReadinessCheck {
    let missing: String
    private let timers: TimerTable
    private let duration: Duration
    private let onMet: () -> Void
    private var wait: TimerTable.Token?

    init(
        _ context: ReadinessContext, _ duration: Duration, _ missing: String,
        _ onMet: @escaping () -> Void
    ) {
        timers = context.timers
        self.duration = duration
        self.missing = missing
        self.onMet = onMet
    }

    func begin() {
        wait = timers.after(duration) { [weak self] in self?.onMet() }
    }

    func close() {
        timers.cancel(wait)
        wait = nil
    }
}

/// Closes a descriptor. Its number is free afterwards whatever the kernel says, so there is nothing
/// to do about a failure.
func closeDescriptor(_ descriptor: CInt) { _ = Glibc.close(descriptor) }
