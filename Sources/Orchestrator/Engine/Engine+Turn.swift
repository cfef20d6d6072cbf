import EventLoop
import Stoic

/// One turn of the engine: drain the inbox into the brain, then do what it decided.
extension Engine {
    /// Rounds of one turn: effects that fail at once come back as facts of the same turn. Bounded
    /// by the limits of restarts; this is where a defect of ours would show.
    private static let mostRounds = 10_000

    /// Runs before each poll of the loop.
    func turn() {
        var rounds = 0
        while !inbox.isEmpty, rounds < Self.mostRounds {
            rounds += 1
            let facts = inbox.take()
            for event in facts.launches + facts.messages + facts.ends + facts.probes { feed(event) }
            for wish in facts.wishes {
                let decisions = feed(.command(wish.command))
                wish.answer?(decisions)
            }
            performPending()
            feed(facts.timers)
            performPending()
        }
        if rounds > 0 { askWaiters() }
    }

    /// Timers come last. When one is later than a busy machine explains, we stood still ourselves,
    /// and the brain hears that first: it may put off the very timers that just ran out.
    private func feed(_ timers: [EngineTimers.Fired]) {
        guard !timers.isEmpty else { return }
        firedTimers = Dictionary(timers.map { ($0.timer, $0) }, uniquingKeysWith: { $1 })
        let pause =
            timers.filter { $0.timer.clock == .awake }.map(\.lateness).max() ?? .zero
        if pause > EngineTimers.ordinaryLateness {
            feed(.timer(.paused(pause)))
            performPending()
        }
        for fired in timers where firedTimers.removeValue(forKey: fired.timer) != nil {
            feed(.timer(.fired(fired.timer)))
        }
        firedTimers = [:]
    }

    @discardableResult
    private func feed(_ event: LifecycleEvent) -> [LifecycleDecision] {
        let reading = loop.now
        var output = LifecycleOutput()
        machine.handle(
            event, at: Instant(awake: reading.awake, boot: reading.boot), into: &output)
        for decision in output.decisions { note(decision) }
        pendingEffects += output.effects
        return output.decisions
    }

    private func performPending() {
        let effects = pendingEffects
        pendingEffects = []
        for effect in effects { perform(effect) }
    }

    /// What others wait for may have come.
    private func askWaiters() {
        waiters.removeAll { !$0.isOpen || $0.isDone(self) }
        afterTurn?()
    }
}
