/// Tries a probe until it succeeds: at once, then at a cadence that grows from 50 ms to 1 s, each
/// wait counted from the end of the try before. So tries never overlap.
final class RepeatedCheck: ReadinessCheck {
    /// The first wait between two tries.
    static let firstWait = Duration.milliseconds(50)
    /// The longest.
    static let longestWait = Duration.seconds(1)

    private enum State {
        case waiting(TimerTable.Token?)
        case trying
        case over
    }

    private(set) var missing = "it was not probed yet"
    private let timers: TimerTable
    private let probe: any ServiceProbe
    private let onMet: () -> Void
    private var nextWait = RepeatedCheck.firstWait
    private var state = State.waiting(nil)

    init(
        _ context: ReadinessContext, _ probe: any ServiceProbe, _ onMet: @escaping () -> Void
    ) {
        timers = context.timers
        self.probe = probe
        self.onMet = onMet
    }

    func begin() { arm(.zero) }

    func close() {
        switch state {
        case .waiting(let token): timers.cancel(token)
        case .trying: probe.cancel()
        case .over: return
        }
        state = .over
    }

    private func arm(_ wait: Duration) {
        state = .waiting(timers.after(wait) { [weak self] in self?.attempt() })
    }

    private func attempt() {
        guard case .waiting = state else { return }
        state = .trying
        probe.attempt { [weak self] outcome in self?.ended(outcome) }
    }

    private func ended(_ outcome: ProbeOutcome) {
        guard case .trying = state else { return }
        guard let failure = outcome.words else {
            state = .over
            onMet()
            return
        }
        missing = failure
        let wait = nextWait
        nextWait = min(wait * 3 / 2, Self.longestWait)
        arm(wait)
    }
}
