/// A rule for the delays between repetitions, as a value: sharing one never shares state.
///
/// The place in it is the caller's, a `State`, and so are the time and the random source; so a
/// schedule can be tested without a clock. Growth is capped first and jittered downwards
/// afterwards: no delay exceeds the cap, and capped callers do not collide. Sums and products
/// saturate, and no delay is negative or longer than a century.
///
/// ```swift
/// let schedule = Schedule.exponential().jittered().within(.seconds(30))
/// var state = Schedule.State()
/// var random = RandomSource.system
/// var elapsed = Duration.zero
/// while case .delay(let delay) = schedule.next(&state, elapsed: elapsed, random: &random) {
///     elapsed += delay
/// }
/// ```
public struct Schedule: Hashable, Sendable {
    /// What it does, as a tree.
    let rule: Rule

    init(_ rule: Rule) { self.rule = rule }

    /// What comes next.
    public enum Step: Hashable, Sendable {
        /// One more repetition, after this long; never negative.
        case delay(Duration)
        /// No more repetitions.
        case done
    }

    /// `base`, multiplied by `factor` at each step, at most `cap`.
    /// - Precondition: `base` and `cap` are not negative; `factor` is finite and at least 1.
    public static func exponential(
        base: Duration = .milliseconds(100), factor: Double = 2, cap: Duration = .seconds(20)
    ) -> Schedule {
        precondition(base >= .zero && cap >= .zero, "a delay cannot be negative")
        precondition(factor.isFinite && factor >= 1, "a factor is finite and at least 1")
        return Schedule(.growing(.power(factor), from: base.clamped, cap: cap.clamped))
    }

    /// `first`, then `step` more at each step, at most `cap`.
    /// - Precondition: None of them is negative.
    public static func linear(
        _ first: Duration, step: Duration, cap: Duration = .seconds(20)
    ) -> Schedule {
        precondition(first >= .zero && step >= .zero && cap >= .zero, "a delay cannot be negative")
        return Schedule(.growing(.sum(step.clamped), from: first.clamped, cap: cap.clamped))
    }

    /// `unit`, times 1, 1, 2, 3, 5, 8, …, at most `cap`: slower growth than doubling.
    /// - Precondition: None of them is negative.
    public static func fibonacci(_ unit: Duration, cap: Duration = .seconds(20)) -> Schedule {
        precondition(unit >= .zero && cap >= .zero, "a delay cannot be negative")
        return Schedule(.growing(.fibonacci, from: unit.clamped, cap: cap.clamped))
    }

    /// Always `delay`, from the end of one repetition to the beginning of the next.
    /// - Precondition: `delay` is not negative.
    public static func spaced(_ delay: Duration) -> Schedule {
        exponential(base: delay, factor: 1, cap: delay)
    }

    /// The multiples of `period`, counted from the beginning of the run: work that takes longer
    /// than a period skips what it missed, and is never repeated twice for one multiple.
    ///
    /// A repetition that comes less than half a period early counts for the multiple ahead of it,
    /// so that a timer that is a little early does not fire twice.
    /// - Precondition: `period` is positive.
    public static func fixed(_ period: Duration) -> Schedule {
        precondition(period > .zero, "a period is positive")
        return Schedule(.fixed(period.clamped))
    }

    /// No delay at all.
    public static let immediate = spaced(.zero)

    /// No repetition at all.
    public static let never = Schedule(.never)

    /// The delays of `retry`: 100 ms × 2 up to 20 s, each drawn from zero to that (full jitter), as
    /// in the AWS SDKs' standard retry mode.
    public static let standard = exponential().jittered()

    /// The delays of restarts: 500 ms × 2 up to 30 s, × U(0.8, 1).
    public static let restartDefault = exponential(
        base: .milliseconds(500), factor: 2, cap: .seconds(30)
    ).jittered(0.8...1)
}

extension Schedule {
    /// Each delay made random, and never longer. The last jitter of several in a row counts.
    /// - Precondition: The numbers of `jitter` are those it allows.
    public func jittered(_ jitter: Jitter = .full) -> Schedule {
        let jitter = jitter.checked()
        guard case .jittered(let inner, _) = rule else { return Schedule(.jittered(rule, jitter)) }
        return Schedule(.jittered(inner, jitter))
    }

    /// Each delay multiplied by a number drawn uniformly from `range`.
    /// - Precondition: `range` lies within 0...1: jitter shortens, so that the cap holds.
    public func jittered(_ range: ClosedRange<Double>) -> Schedule { jittered(.factor(range)) }

    /// At most `count` delays.
    /// - Precondition: `count` is not negative.
    public func limited(to count: Int) -> Schedule {
        precondition(count >= 0, "a count is not negative")
        return Schedule(.limited(rule, count))
    }

    /// No repetition that would begin later than `limit` after the beginning of the run.
    public func within(_ limit: Duration) -> Schedule {
        Schedule(.within(rule, limit.clamped))
    }

    /// This one, and when it is done, `other` from its beginning. For `other` the run begins then.
    public func then(_ other: Schedule) -> Schedule { Schedule(.both(.then, rule, other.rule)) }

    /// The shorter of the two delays, until both are done.
    public func union(_ other: Schedule) -> Schedule { Schedule(.both(.union, rule, other.rule)) }

    /// The longer of the two delays, until one is done.
    public func intersect(_ other: Schedule) -> Schedule {
        Schedule(.both(.intersect, rule, other.rule))
    }

    /// Each delay changed by `change`; a negative result is no delay, a longer one than a century
    /// a century.
    ///
    /// Two mapped schedules are equal only if one is a copy of the other: functions have no
    /// equality.
    public func map(_ change: @escaping @Sendable (Duration) -> Duration) -> Schedule {
        Schedule(.mapped(rule, Rule.Change(change)))
    }
}
