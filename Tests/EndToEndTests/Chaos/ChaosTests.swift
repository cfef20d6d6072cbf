import Glibc
import Testing

/// Real processes, broken at random. `scripts/chaos` runs more rounds, and one seed again.
@Suite("Chaos", .timeLimit(.minutes(600)))
@BenchActor
struct ChaosTests {
    private static func setting(_ name: String, _ normally: Int) -> Int {
        guard let text = unsafe getenv(name), let number = unsafe Int(String(cString: text))
        else { return normally }
        return number
    }

    @Test("the checker is silent about a sound record, and sees each planted fault")
    func planted() {
        let needs = ["b": ["a"]]
        #expect(ChaosChecker.complaints(about: ChaosChecker.sound, needs: needs) == [])
        for (steps, word) in ChaosChecker.planted {
            let complaints = ChaosChecker.complaints(about: steps, needs: needs)
            #expect(complaints.contains { $0.contains(word) }, "\(word): \(complaints)")
        }
    }

    @Test("whatever is killed, the order holds and nothing is left")
    func rounds() async throws {
        // An instrument that sees nothing finds nothing.
        planted()
        let first = Self.setting("CHAOS_SEED", 1)
        let count = Self.setting("CHAOS_ROUNDS", 2)
        var (kills, refusals) = (0, 0)
        for seed in first..<first + count {
            do {
                try await withBench { bench in
                    let round = ChaosRound(bench, seed: UInt64(seed))
                    try await round.run(steps: Self.setting("CHAOS_STEPS", 40))
                    kills += round.kills
                    refusals += round.refusals
                }
            } catch {
                Issue.record(
                    "seed \(seed): again with CHAOS_SEED=\(seed) scripts/chaos 1\n\(error)")
            }
        }
        print(
            "chaos: \(count) rounds from seed \(first), \(kills) processes killed or stopped, "
                + "\(refusals) times no descriptor or no space")
    }
}
