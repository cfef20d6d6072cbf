/// The delays of a schedule by their number, for callers who keep nothing but that.
extension Schedule {
    /// The first delay, before its jitter.
    public var base: Duration { rule.first }

    /// What each next delay is multiplied by; 1 for everything that does not grow by a factor.
    public var factor: Double {
        guard case .growing(.power(let factor), _, _) = core else { return 1 }
        return factor
    }

    /// No delay is longer. A century where nothing else bounds it.
    public var cap: Duration { rule.cap }

    /// What a delay is multiplied by, drawn uniformly; within 0...1.
    public var jitter: ClosedRange<Double> {
        guard case .jittered(_, let jitter) = rule else { return 1...1 }
        return jitter.range
    }

    /// The delay before repetition `step`, counted from 0, without its jitter.
    ///
    /// As if the work took no time; a schedule that is done by then says a century.
    /// - Complexity: O(1) in `step`, except for combined schedules: O(`step`), of which the first
    ///   4,096 count.
    public func delayBeforeJitter(step: Int) -> Duration {
        if let delay = direct(step) { return delay }
        var unused = RandomSource.seeded(0)
        return follow(to: step, jitter: false, random: &unused)
    }

    /// The delay before repetition `step`, counted from 0.
    ///
    /// As if the work took no time; a schedule that is done by then says a century.
    /// - Complexity: As `delayBeforeJitter`, and so for decorrelated jitter.
    public func delay(step: Int, random: inout RandomSource) -> Duration {
        guard let whole = direct(step) else {
            return follow(to: step, jitter: true, random: &random)
        }
        guard case .jittered(_, let jitter) = rule else { return whole }
        if case .decorrelated = jitter { return follow(to: step, jitter: true, random: &random) }
        return jitter.draw(whole, random: &random)
    }

    /// Without its jitter.
    private var core: Rule {
        guard case .jittered(let inner, _) = rule else { return rule }
        return inner
    }

    /// The delay where the step alone decides it.
    private func direct(_ step: Int) -> Duration? {
        guard case .growing(let growth, let base, let cap) = core else { return nil }
        return growth.delay(step: step, from: base, cap: cap)
    }

    private func follow(to step: Int, jitter: Bool, random: inout RandomSource) -> Duration {
        var state = State()
        var elapsed = Duration.zero
        var delay = Duration.century
        for _ in 0...max(0, min(step, 4_095)) {
            let next = rule.next(&state, elapsed: elapsed, jitter: jitter, random: &random)
            guard case .delay(let one) = next else { return .century }
            delay = one
            elapsed = elapsed.saturatingSum(one)
        }
        return delay
    }
}

extension Schedule.Rule {
    fileprivate var cap: Duration {
        switch self {
        case .growing(_, _, let cap): cap
        // A multiple less than half a period away may be left out, for the one after it.
        case .fixed(let period): period.saturatingSum(period / 2)
        case .never: .zero
        case .jittered(_, .decorrelated(let most)): most
        case .jittered(let rule, _), .limited(let rule, _): rule.cap
        case .within(let rule, let limit): min(rule.cap, max(limit, .zero))
        case .both(.union, let left, let right), .both(.then, let left, let right),
            .both(.intersect, let left, let right):
            max(left.cap, right.cap)
        case .mapped: .century
        }
    }
}
