/// A rule for the delays between repetitions, as a value: sharing one never shares state.
///
/// The step and the random source are the caller's. Growth is capped first and jittered downwards
/// afterwards, so no delay exceeds the cap and capped callers do not collide.
public struct Schedule: Hashable, Sendable {
    /// The first delay, before its jitter.
    public private(set) var base: Duration
    /// What each next delay is multiplied by; at least 1.
    public private(set) var factor: Double
    /// No delay is longer.
    public private(set) var cap: Duration
    /// What a delay is multiplied by, drawn uniformly; within 0...1.
    public private(set) var jitter: ClosedRange<Double>

    /// `base`, multiplied by `factor` at each step, at most `cap`.
    /// - Precondition: `base` and `cap` are not negative; `factor` is finite and at least 1.
    public static func exponential(
        base: Duration = .milliseconds(100), factor: Double = 2, cap: Duration = .seconds(20)
    ) -> Schedule {
        precondition(base >= .zero && cap >= .zero, "a delay cannot be negative")
        precondition(factor.isFinite && factor >= 1, "a factor is finite and at least 1")
        return Schedule(
            base: base.clamped, factor: factor, cap: cap.clamped, jitter: 1...1)
    }

    /// Always `delay`.
    public static func spaced(_ delay: Duration) -> Schedule {
        exponential(base: delay, factor: 1, cap: delay)
    }

    /// No delay at all.
    public static let immediate = spaced(.zero)

    /// The delays of restarts: 500 ms × 2 up to 30 s, × U(0.8, 1).
    public static let restartDefault = exponential(
        base: .milliseconds(500), factor: 2, cap: .seconds(30)
    ).jittered(0.8...1)

    /// Each delay multiplied by a number drawn uniformly from `range`.
    /// - Precondition: `range` lies within 0...1: jitter shortens, so that the cap holds.
    public func jittered(_ range: ClosedRange<Double>) -> Schedule {
        precondition(range.lowerBound >= 0 && range.upperBound <= 1, "jitter lies within 0...1")
        var schedule = self
        schedule.jitter = range
        return schedule
    }

    /// The delay before repetition `step`, counted from 0, without its jitter.
    /// - Complexity: O(1) in `step`.
    public func delayBeforeJitter(step: Int) -> Duration {
        guard step > 0, base > .zero, factor > 1 else { return min(base, cap) }
        let capSeconds = cap / .seconds(1)
        var seconds = base / .seconds(1)
        for _ in 0..<min(step, Self.mostSteps) {
            seconds *= factor
            if seconds >= capSeconds { return cap }
        }
        return min(.seconds(seconds), cap)
    }

    /// The delay before repetition `step`, counted from 0.
    public func delay(step: Int, random: inout RandomSource) -> Duration {
        let whole = delayBeforeJitter(step: step)
        guard jitter.lowerBound < 1 else { return whole }
        return whole * Double.random(in: jitter, using: &random)
    }

    /// Growth by the smallest useful factor has met any cap long before this many steps, and the
    /// loop stays bounded for a factor that is barely above 1.
    private static let mostSteps = 4_096
}
