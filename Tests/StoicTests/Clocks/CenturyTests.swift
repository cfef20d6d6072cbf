import StoicTesting
import Testing

@testable import Stoic

/// Saturating arithmetic, against a model in whole numbers that are wide enough.
@Suite("Durations that saturate", .timeLimit(.minutes(5)))
struct CenturyTests {
    private static let limit = Duration.century.attoseconds

    private static func clamp(_ attoseconds: Int128) -> Int128 {
        min(max(attoseconds, -limit), limit)
    }

    /// Durations of every size, the edges more often than they deserve.
    private static func duration(_ random: inout RandomSource) -> Duration {
        let edges: [Int128] = [
            0, 1, -1, limit, limit - 1, limit + 1, -limit, -limit - 1, -limit + 1, .max, .min,
            Int128(Int64.max), Int128(Int64.min), Int128(Int64.max) * 1_000_000_000_000_000_000,
        ]
        if Int.random(in: 0..<4, using: &random) == 0,
            let edge = edges.randomElement(using: &random)
        {
            return Duration(attoseconds: edge)
        }
        let bits = Int128(truncatingIfNeeded: random.next()) << 64 | Int128(random.next())
        return Duration(attoseconds: bits >> Int.random(in: 0..<128, using: &random))
    }

    /// Records the first case that breaks a law, and no other: expectations are slow.
    private static func check(
        _ count: Int, seed: UInt64, _ laws: (inout RandomSource) -> [(String, Bool)]
    ) {
        var random = RandomSource.seeded(seed)
        for round in 0..<count {
            for (law, holds) in laws(&random) where !holds {
                Issue.record("\(law): round \(round) of seed \(seed)")
                return
            }
        }
    }

    @Test("sum and difference are the model's, for any two durations")
    func model() {
        Self.check(50_000, seed: 1) { random in
            let (a, b) = (Self.duration(&random), Self.duration(&random))
            let (x, y) = (Self.clamp(a.attoseconds), Self.clamp(b.attoseconds))
            return [
                ("clamped", a.clamped.attoseconds == x),
                ("sum", a.saturatingSum(b).attoseconds == Self.clamp(x + y)),
                ("difference", a.saturatingDifference(b).attoseconds == Self.clamp(x - y)),
            ]
        }
    }

    @Test("the laws: order does not matter, nothing changes nothing, more is never less")
    func laws() {
        Self.check(20_000, seed: 2) { random in
            let (a, b) = (Self.duration(&random), Self.duration(&random))
            let c = Self.duration(&random)
            let (low, high) = (min(a, b), max(a, b))
            return [
                ("order", a.saturatingSum(b) == b.saturatingSum(a)),
                ("nothing", a.saturatingSum(.zero) == a.clamped),
                ("itself", a.saturatingDifference(a) == .zero),
                ("twice", a.clamped.clamped == a.clamped),
                ("more", low.saturatingSum(c) <= high.saturatingSum(c)),
                ("less", c.saturatingDifference(low) >= c.saturatingDifference(high)),
            ]
        }
    }

    @Test("instants and deadlines: any duration, no trap, and there is always an order")
    func instants() async throws {
        try await simulate { world in
            Self.check(5_000, seed: 3) { random in
                let (a, b) = (Self.duration(&random), Self.duration(&random))
                let instant = world.ambientClock.now.advanced(by: a)
                let later = instant.advanced(by: b)
                let between = instant.duration(to: later)
                let deadline = Deadline.in(a)
                return [
                    ("bounded", between == between.clamped),
                    ("order", (between > .zero) == (instant < later)),
                    ("direction", between == .zero || (between > .zero) == (b > .zero)),
                    ("passed", deadline.hasPassed == (a <= .zero)),
                    ("remaining", deadline.remaining == a.clamped),
                ]
            }
        }
    }
}
