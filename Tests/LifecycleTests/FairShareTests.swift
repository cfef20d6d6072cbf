import Testing

@testable import Stoic

@Suite("FairShare", .timeLimit(.minutes(1)))
struct FairShareTests {
    private static func milliseconds(_ most: Int, _ random: inout RandomSource) -> Duration {
        .milliseconds(Int.random(in: 0...most, using: &random))
    }

    @Test("LIF-44: a share is no more than wanted or left, nor than what the others can spare")
    func bounds() {
        for seed in UInt64(0)..<20_000 {
            var random = RandomSource.seeded(seed)
            let wanted = Self.milliseconds(40_000, &random)
            let left = Self.milliseconds(30_000, &random)
            let later = Int.random(in: 0...60, using: &random)
            let slot = FairShare.slot(wanted: wanted, remaining: left, later: later)
            let note = Comment("seed \(seed): \(wanted) of \(left) before \(later): \(slot)")
            #expect(slot >= .zero && slot <= wanted && slot <= left, note)
            #expect(slot >= min(wanted, left / 2), note)
            let reserves = FairShare.reserve * later
            // Where they fit into the other half, every later stop keeps its reserve.
            if reserves <= left / 2 { #expect(left - slot >= reserves, note) }
            // Where all of it fits, nothing is taken from anybody.
            if wanted + reserves <= left { #expect(slot == wanted, note) }
        }
    }

    @Test("LIF-44: if every stop hangs, each has had its share when the budget is over")
    func everyStopHangs() {
        for seed in UInt64(0)..<2_000 {
            var random = RandomSource.seeded(seed)
            var left = Self.milliseconds(30_000, &random) + .milliseconds(1)
            for later in (0..<Int.random(in: 1...20, using: &random)).reversed() {
                let wanted = Self.milliseconds(40_000, &random) + .milliseconds(1)
                let slot = FairShare.slot(wanted: wanted, remaining: left, later: later)
                #expect(slot > .zero && slot <= left, "seed \(seed), \(later) to come")
                left -= slot
            }
        }
    }

    @Test("LIF-44: of a budget that is over there is nothing")
    func over() {
        for later in [0, 1, 1_000] {
            let slot = FairShare.slot(wanted: .seconds(9), remaining: .seconds(-3), later: later)
            #expect(slot == .zero)
        }
    }
}
