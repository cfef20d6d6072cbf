/// How a delay is made random, so that callers who failed together do not come back together.
///
/// No kind makes a delay longer than its schedule's cap, or than the `max` it names.
public enum Jitter: Hashable, Sendable {
    /// Not at all.
    case none
    /// From zero to the whole delay: spreads a herd best.
    case full
    /// Half of the delay, and from zero to the other half: never much too early.
    case equal
    /// From the schedule's first delay to three times the one drawn before, at most `max`; the
    /// growth of the schedule itself does not count. `max` is not negative.
    case decorrelated(max: Duration)
    /// The delay times a number from this range, which lies within 0...1.
    case factor(ClosedRange<Double>)
}

extension Jitter {
    /// This kind, with no longer delay than a century.
    /// - Precondition: Its numbers are those it allows.
    func checked() -> Jitter {
        switch self {
        case .none, .full, .equal:
            return self
        case .decorrelated(let most):
            precondition(most >= .zero, "a delay cannot be negative")
            return .decorrelated(max: most.clamped)
        case .factor(let range):
            precondition(range.lowerBound >= 0 && range.upperBound <= 1, "jitter lies within 0...1")
            return self
        }
    }

    /// What a delay is multiplied by. The range of a decorrelated one depends on what was drawn.
    var range: ClosedRange<Double> {
        switch self {
        case .none: 1...1
        case .full, .decorrelated: 0...1
        case .equal: 0.5...1
        case .factor(let range): range
        }
    }

    /// A delay of at most `whole`.
    func draw(_ whole: Duration, random: inout RandomSource) -> Duration {
        let range = self.range
        guard range.lowerBound < 1 else { return whole }
        return min(whole, whole * Double.random(in: range, using: &random))
    }

    /// The next delay of a decorrelated jitter.
    /// - Parameters:
    ///   - first: The schedule's first delay.
    ///   - previous: The delay drawn before, or `nil` at the beginning.
    static func drawDecorrelated(
        after previous: Duration?, first: Duration, max most: Duration,
        random: inout RandomSource
    ) -> Duration {
        let low = min(first, most)
        let high = min(max((previous ?? first).clamped * 3, low), most)
        return min(high, low + (high - low) * Double.random(in: 0...1, using: &random))
    }
}
