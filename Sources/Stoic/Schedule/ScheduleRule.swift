extension Schedule {
    /// What a schedule is made of.
    indirect enum Rule: Hashable, Sendable {
        case growing(Growth, from: Duration, cap: Duration)
        case fixed(Duration)
        case never
        case jittered(Rule, Jitter)
        case limited(Rule, Int)
        case within(Rule, Duration)
        case both(Pairing, Rule, Rule)
        case mapped(Rule, Change)
    }

    /// How a delay grows.
    enum Growth: Hashable, Sendable {
        case power(Double)
        case sum(Duration)
        case fibonacci
    }

    /// How two rules make one.
    enum Pairing: Hashable, Sendable {
        case then
        case union
        case intersect
    }
}

extension Schedule.Rule {
    /// A function with an identity.
    final class Change: Hashable, Sendable {
        let change: @Sendable (Duration) -> Duration
        init(_ change: @escaping @Sendable (Duration) -> Duration) { self.change = change }

        static func == (left: Change, right: Change) -> Bool { left === right }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }
}

extension Schedule.Growth {
    /// The delay before repetition `step`, counted from 0: from `base`, at most `cap`.
    /// - Complexity: O(log(cap / base)), and never more than a few thousand multiplications.
    func delay(step: Int, from base: Duration, cap: Duration) -> Duration {
        guard step > 0, base < cap else { return min(base, cap) }
        switch self {
        case .power(let factor):
            guard base > .zero, factor > 1 else { return base }
            let capSeconds = cap / .seconds(1)
            var seconds = base / .seconds(1)
            for _ in 0..<min(step, Self.mostSteps) {
                seconds *= factor
                if seconds >= capSeconds { return cap }
            }
            return min(.seconds(seconds), cap)
        case .sum(let difference):
            let (growth, overflows) = difference.attoseconds
                .multipliedReportingOverflow(by: Int128(step))
            guard !overflows else { return cap }
            return min(base.saturatingSum(Duration(attoseconds: growth)), cap)
        case .fibonacci:
            guard base > .zero else { return base }
            var (last, next) = (base, base)
            for _ in 1..<max(1, min(step, Self.mostSteps)) {
                (last, next) = (next, last.saturatingSum(next))
                if next >= cap { return cap }
            }
            return next
        }
    }

    /// Growth by the smallest useful factor has met any cap long before this many steps, and the
    /// loop stays bounded for a factor that is barely above 1.
    private static let mostSteps = 4_096
}
