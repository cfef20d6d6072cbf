import Stoic
import StoicTesting
import Testing

/// The recipe of `docs/guide/failures/herd.md`, run.
@Suite("The herd", .timeLimit(.minutes(5)))
struct HerdTests {
    struct Busy: Error {}

    private func comebacks(of callers: Int, ownSeeds: Bool, seed: UInt64 = 1) async throws
        -> [Duration]
    {
        try await simulate(seed: seed) { world in
            try await mapConcurrent(0..<callers, limit: callers) { caller in
                try await withAmbient {
                    if ownSeeds { $0.random = .seeded(seed &+ UInt64(caller)) }
                } operation: {
                    try await retry(attempts: 2, budget: nil) { attempt in
                        guard !attempt.isFirst else { throw Busy() }
                        return world.clock.now.sinceOrigin
                    }
                }
            }
        }
    }

    private func busiest(_ times: [Duration]) -> Int {
        Dictionary(grouping: times) { Int($0 / .milliseconds(10)) }.values.map(\.count).max() ?? 0
    }

    @Test("callers with seeds of their own come back spread out; under one seed they come as one")
    func spread() async throws {
        let spread = try await comebacks(of: 500, ownSeeds: true)
        #expect(busiest(spread) < 100)
        #expect(try await comebacks(of: 500, ownSeeds: true) == spread)
        let herd = try await comebacks(of: 500, ownSeeds: false)
        #expect(busiest(herd) == 500)
    }
}
