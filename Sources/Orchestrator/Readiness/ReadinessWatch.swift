import EventLoop
import Manifest

/// Watches one incarnation until it is ready, in every way a config can ask for.
///
/// `onReady` is called once, on the loop's thread, never before `init` returned and never after
/// `close`. The watch does not time out: how long a start may last is a rule, so it is the brain's.
final class ReadinessWatch {
    private enum State {
        case watching(any ReadinessCheck)
        case ready
        case closed(lastFailure: String)
    }

    private var state = State.closed(lastFailure: "")
    private let onReady: () -> Void

    /// Starts to watch. The first probe runs in the next turn of the loop.
    init(
        _ definition: ReadyDefinition, context: ReadinessContext, onReady: @escaping () -> Void
    ) {
        self.onReady = onReady
        var pipes = context.descriptors
        let check = makeCheck(definition, context, &pipes) { [weak self] in self?.becameReady() }
        // Ends that no kind asked for would keep the child's pipe open.
        for end in pipes.values { closeDescriptor(end) }
        state = .watching(check)
        check.begin()
    }

    deinit { close() }

    /// What is still missing, in words that follow "not ready: "; empty once it is ready.
    var lastFailure: String {
        switch state {
        case .watching(let check): check.missing
        case .ready: ""
        case .closed(let text): text
        }
    }

    /// It said `READY=1`.
    func noteNotifyReady() { tell(.notified) }

    /// It ended with success.
    func noteCompletion() { tell(.completed) }

    /// It wrote this. Bytes of stdout and stderr may be mixed, as they are in the log.
    func noteOutput(_ bytes: UnsafeRawBufferPointer) {
        guard case .watching(let check) = state else { return }
        // SAFETY: the caller keeps the bytes until this returns.
        unsafe check.noteOutput(bytes)
    }

    /// Reads what its pipes still hold. For when the main process has ended: a newline it wrote
    /// comes before its end.
    func drain() { tell(.drained) }

    /// Stops watching: cancels probes, closes descriptors. `lastFailure` keeps its last words.
    func close() {
        guard case .watching(let check) = state else { return }
        state = .closed(lastFailure: check.missing)
        check.close()
    }

    private func tell(_ fact: ReadinessFact) {
        guard case .watching(let check) = state else { return }
        check.note(fact)
    }

    private func becameReady() {
        guard case .watching(let check) = state else { return }
        state = .ready
        check.close()
        onReady()
    }
}
