import Manifest

/// Probes one incarnation for whether it lives, again and again until it is closed.
///
/// `onResult` gets `nil` for each success, else why the probe failed, in words; on the loop's
/// thread, never before `init` returned and never after `close`. The next probe begins `interval`
/// after the end of the one before, so there is never more than one.
final class LivenessWatch {
    private enum State {
        case waiting(TimerTable.Token)
        case probing
        case closed
    }

    /// Why the last probe failed; `nil` if it succeeded, or there was none.
    private(set) var lastFailure: String?
    private let interval: Duration
    private let timers: TimerTable
    private let probe: any ReadinessProbe
    private let onResult: (String?) -> Void
    private var state = State.closed

    init(
        _ definition: LiveDefinition, context: ReadinessContext,
        onResult: @escaping (String?) -> Void
    ) {
        interval = definition.interval
        timers = context.timers
        self.onResult = onResult
        probe =
            switch definition.probe {
            case .tcp(let host, let port):
                TCPProbe(context, host: host, port: port, limit: definition.timeout)
            case .unix(let path): UnixProbe(path: path)
            case .exec(let command): ExecProbe(context, command, timeout: definition.timeout)
            }
        wait()
    }

    deinit { close() }

    /// Ends a probe under way, with all its processes, and begins no other.
    func close() {
        switch state {
        case .waiting(let token): timers.cancel(token)
        case .probing: probe.cancel()
        case .closed: return
        }
        state = .closed
    }

    private func wait() {
        state = .waiting(timers.after(interval) { [weak self] in self?.begin() })
    }

    private func begin() {
        guard case .waiting = state else { return }
        state = .probing
        probe.attempt { [weak self] failure in self?.ended(failure) }
    }

    private func ended(_ failure: String?) {
        guard case .probing = state else { return }
        lastFailure = failure
        wait()
        onResult(failure)
    }
}
