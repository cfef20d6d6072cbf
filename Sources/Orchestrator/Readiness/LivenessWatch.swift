import EventLoop
import Manifest
import Stoic

/// Probes one incarnation for whether it lives, again and again until it is closed.
///
/// `onResult` gets what came of each probe, on the loop's thread, never before `init` returned and
/// never after `close`. The next probe begins `interval` after the end of the one before, so there
/// is never more than one. One that is over its time and cannot be ended counts as a failure all
/// the same, and again at each interval: nothing waits for it.
final class LivenessWatch {
    /// How much longer than its `timeout` a probe may take: a command is killed then, and has to be
    /// gone.
    static let grace = Duration.seconds(1)

    private enum State {
        case waiting(TimerTable.Token)
        /// A probe runs, and is over its time at `due`, in awake time. Whether we stood still in
        /// it.
        case probing(due: Duration, limit: TimerTable.Token, stoodStill: Bool)
        /// The probe is over its time and has not ended; the next look is due.
        case stuck(TimerTable.Token)
        case closed
    }

    /// Why the last probe did not succeed; `nil` if it did, or there was none.
    private(set) var lastFailure: String?
    private let definition: LiveDefinition
    private let loop: Loop
    private let timers: TimerTable
    private let probe: any ServiceProbe
    private let onResult: (ProbeOutcome) -> Void
    private var state = State.closed

    init(
        _ definition: LiveDefinition, context: ReadinessContext,
        onResult: @escaping (ProbeOutcome) -> Void
    ) {
        self.definition = definition
        loop = context.loop
        timers = context.timers
        self.onResult = onResult
        probe =
            switch definition.probe {
            case .tcp(let host, let port):
                TCPProbe(context, host: host, port: port, limit: definition.timeout)
            case .unix(let path): UnixProbe(path: path)
            case .exec(let command): ExecProbe(context, command, timeout: definition.timeout)
            }
        state = .waiting(nextLook())
    }

    deinit { close() }

    /// Ends a probe under way, with all its processes, and begins no other.
    func close() {
        switch state {
        case .waiting(let token): timers.cancel(token)
        case .probing(_, let limit, _):
            timers.cancel(limit)
            probe.cancel()
        case .stuck(let token):
            timers.cancel(token)
            probe.cancel()
        case .closed: return
        }
        state = .closed
    }

    private func nextLook() -> TimerTable.Token {
        timers.after(definition.interval) { [weak self] in self?.look() }
    }

    private func look() {
        switch state {
        case .waiting: begin()
        case .stuck:
            state = .stuck(nextLook())
            report(.failed("the probe before has not ended"))
        case .probing, .closed: break
        }
    }

    private func begin() {
        arm(stoodStill: false)
        probe.attempt { [weak self] outcome in self?.ended(outcome) }
    }

    private func arm(stoodStill: Bool) {
        let longest = definition.timeout.saturatingSum(Self.grace)
        let limit = timers.after(longest) { [weak self] in self?.overdue() }
        state = .probing(
            due: loop.now.awake.saturatingSum(longest), limit: limit, stoodStill: stoodStill)
    }

    private func overdue() {
        guard case .probing(let due, _, _) = state else { return }
        // What runs gets its time anew when we stood still in it.
        if isLate(due) { return arm(stoodStill: true) }
        state = .stuck(nextLook())
        report(.failed("no end within \(definition.timeout.words)"))
    }

    private func ended(_ outcome: ProbeOutcome) {
        switch state {
        case .probing(let due, let limit, let stoodStill):
            timers.cancel(limit)
            state = .waiting(nextLook())
            if case .failed = outcome, stoodStill || isLate(due) {
                return report(.notRun("we stood still while it ran"))
            }
            report(outcome)
        // It was counted when its time was up.
        case .stuck(let token): state = .waiting(token)
        case .waiting, .closed: break
        }
    }

    /// Whether it is later than a busy machine explains: we ourselves did not run.
    private func isLate(_ due: Duration) -> Bool {
        loop.now.awake - due > EngineTimers.ordinaryLateness
    }

    private func report(_ outcome: ProbeOutcome) {
        lastFailure = outcome.words
        onResult(outcome)
    }
}
