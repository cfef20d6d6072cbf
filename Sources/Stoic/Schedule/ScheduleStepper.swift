extension Schedule {
    /// A place in a schedule: where one run of repetitions has come to. A new one is the beginning
    /// of any schedule; a copy goes on by itself.
    public struct State: Hashable, Sendable {
        /// Delays given so far.
        var step = 0
        /// Whether it has said that it is done. It stays so.
        var isDone = false
        /// The delay that was drawn last, for a jitter that depends on it.
        var drawn: Duration?
        /// The multiple of a fixed period that was aimed at last.
        var multiple: Int128 = 0
        /// When the second of two rules began.
        var turn: Duration?
        /// The places in the rules it is made of, where they need their own.
        var parts: [State] = []

        /// The beginning.
        public init() {}
    }

    /// The next step of a run.
    /// - Parameters:
    ///   - state: The place; it moves on by one step.
    ///   - elapsed: How long the run has lasted so far, work included. It decides what `fixed`
    ///     and `within` say, and nothing else.
    ///   - random: Where jitter is drawn from.
    /// - Returns: The delay before the next repetition, or that there is none; then for ever.
    /// - Complexity: O(rules it is made of); a schedule without `then`, `union`, `intersect` and
    ///   decorrelated jitter allocates nothing.
    public func next(
        _ state: inout State, elapsed: Duration, random: inout RandomSource
    ) -> Step {
        rule.next(&state, elapsed: max(elapsed, .zero).clamped, jitter: true, random: &random)
    }
}

extension Schedule.Rule {
    typealias State = Schedule.State
    typealias Step = Schedule.Step

    /// One step; once it is done it stays so.
    ///
    /// Rules around one rule share its place: each gives a delay exactly when that one does. Two
    /// rules side by side have a place each.
    func next(
        _ state: inout State, elapsed: Duration, jitter: Bool, random: inout RandomSource
    ) -> Step {
        guard !state.isDone else { return .done }
        let step = decide(&state, elapsed, jitter, &random)
        if step == .done { state.isDone = true }
        return step
    }

    private func decide(
        _ state: inout State, _ elapsed: Duration, _ jitter: Bool, _ random: inout RandomSource
    ) -> Step {
        switch self {
        case .growing(let growth, let base, let cap):
            let delay = growth.delay(step: state.step, from: base, cap: cap)
            state.advance()
            return .delay(delay)
        case .fixed(let period):
            return .delay(state.aim(period, elapsed))
        case .never:
            return .done
        case .jittered(let rule, .decorrelated(let most)) where jitter:
            if state.parts.isEmpty { state.parts = [State()] }
            let step = rule.next(&state.parts[0], elapsed: elapsed, jitter: jitter, random: &random)
            guard case .delay = step else { return .done }
            state.advance()
            let drawn = Jitter.drawDecorrelated(
                after: state.drawn, first: rule.first, max: most, random: &random)
            state.drawn = drawn
            return .delay(drawn)
        case .jittered(let rule, let kind):
            let step = rule.next(&state, elapsed: elapsed, jitter: jitter, random: &random)
            guard jitter, case .delay(let delay) = step else { return step }
            return .delay(kind.draw(delay, random: &random))
        case .limited(let rule, let count):
            guard state.step < count else { return .done }
            return rule.next(&state, elapsed: elapsed, jitter: jitter, random: &random)
        case .within(let rule, let limit):
            let step = rule.next(&state, elapsed: elapsed, jitter: jitter, random: &random)
            guard case .delay(let delay) = step, elapsed.saturatingSum(delay) <= limit
            else { return .done }
            return step
        case .both(let pairing, let left, let right):
            return pair(pairing, (left, right), &state, (elapsed, jitter), &random)
        case .mapped(let rule, let change):
            let step = rule.next(&state, elapsed: elapsed, jitter: jitter, random: &random)
            guard case .delay(let delay) = step else { return .done }
            return .delay(max(change.change(delay), .zero).clamped)
        }
    }

    private func pair(
        _ pairing: Schedule.Pairing, _ rules: (left: Self, right: Self), _ state: inout State,
        _ now: (elapsed: Duration, jitter: Bool), _ random: inout RandomSource
    ) -> Step {
        if state.parts.isEmpty { state.parts = [State(), State()] }
        let (elapsed, jitter) = now
        let first = rules.left.next(
            &state.parts[0], elapsed: elapsed, jitter: jitter, random: &random)
        if pairing == .then, first != .done {
            state.advance()
            return first
        }
        if pairing == .then, state.turn == nil { state.turn = elapsed }
        let second = rules.right.next(
            &state.parts[1], elapsed: elapsed.saturatingDifference(state.turn ?? .zero),
            jitter: jitter, random: &random)
        let step = pairing.choose(first, second)
        if step != .done { state.advance() }
        return step
    }

    /// The first delay, before any jitter; zero if there is none.
    var first: Duration {
        var state = State()
        var unused = RandomSource.seeded(0)
        guard case .delay(let delay) = next(&state, elapsed: .zero, jitter: false, random: &unused)
        else { return .zero }
        return delay
    }
}

extension Schedule.Pairing {
    fileprivate func choose(_ left: Schedule.Step, _ right: Schedule.Step) -> Schedule.Step {
        switch (left, right) {
        case (.delay(let one), .delay(let other)):
            switch self {
            case .union: .delay(min(one, other))
            case .intersect: .delay(max(one, other))
            case .then: left
            }
        case (.delay, .done): self == .union ? left : .done
        case (.done, .delay): self == .intersect ? .done : right
        case (.done, .done): .done
        }
    }
}

extension Schedule.State {
    fileprivate mutating func advance() { step = min(step, .max - 1) + 1 }

    /// The time until the next multiple of `period` that no repetition was aimed at.
    fileprivate mutating func aim(_ period: Duration, _ elapsed: Duration) -> Duration {
        let (now, length) = (elapsed.attoseconds, period.attoseconds)
        // Another rule may have repeated the work long before the multiple aimed at.
        if now >= multiple * length - length / 2 { multiple += 1 }
        multiple = max(multiple, (now + length - 1) / length)
        advance()
        return Duration(attoseconds: multiple * length - now).clamped
    }
}
