import Glibc
import Simulation
import Stoic
import Testing

/// Random projects under random incidents, with a clock, against every invariant.
@Suite("Simulation, seeds", .timeLimit(.minutes(10)))
struct SeedTests {
    /// `ORCHESTRATOR_SEEDS=N` plays N seeds instead of the few of every run.
    static let seeds =
        unsafe getenv("ORCHESTRATOR_SEEDS").flatMap { Int(unsafe String(cString: $0)) } ?? 400

    @Test("SIM-1: random projects under random incidents break no invariant", arguments: 0..<4)
    func randomProjects(part: Int) async throws {
        var events = 0
        for seed in stride(from: part, to: Self.seeds, by: 4) {
            let scenario = RandomScenario.of(seed: UInt64(seed))
            let result = try scenario.run()
            events += result.events
            if let violation = result.violations.first {
                let shrinking = Shrinking(scenario)
                let text = ScenarioText(shrinking.smallest)
                Issue.record("seed \(seed): \(violation)\n\(text.commandLine())\n\(text.config)")
                return
            }
            // Other tests share our threads, and their time is limited.
            await Task.yield()
        }
        print("part \(part) of \(Self.seeds) seeds: \(events) events")
    }

    @Test("SIM-2: the same seed gives the same run, decision by decision", arguments: [1, 7, 23])
    func deterministic(seed: UInt64) throws {
        let first = try RandomScenario.of(seed: seed).run()
        let second = try RandomScenario.of(seed: seed).run()
        #expect(first.journal.map(\.decision) == second.journal.map(\.decision))
        #expect(first.journal.map(\.at) == second.journal.map(\.at))
        let other = try RandomScenario.of(seed: seed + 1).run()
        #expect(first.journal.map(\.decision) != other.journal.map(\.decision))
    }
}
