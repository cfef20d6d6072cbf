import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("withSupervisor, intensity", .timeLimit(.minutes(5)))
struct IntensityModelTests {
    private static let window = 10

    /// How many failures there are when one is too many, if ever: a failure counts for less than a
    /// window.
    private static func end(of moments: [Int], most: Int) -> Int? {
        moments.indices.first { last in
            moments[...last].count { moments[last] - $0 < window } > most
        }.map { $0 + 1 }
    }

    @Test("any failures at any moments: it ends with the first that is one too many in a window")
    func window() async throws {
        let ends = Mutex((escalated: 0, lasted: 0))
        try await explore(seeds: 67, under: SimulatedOrder.punctual) { world in
            var random = RandomSource.seeded(world.seed)
            let most = Int.random(in: 0...8, using: &random)
            var moments: [Int] = []
            for _ in 0..<20 {
                moments.append((moments.last ?? 0) + .random(in: 0...5, using: &random))
            }
            var rules = Supervision(
                intensity: SupervisionIntensity(most, in: .seconds(Self.window)))
            rules.backoff = .spaced(.zero)
            let (failures, error) = try await supervise(moments, rules, world)
            let expected = Self.end(of: moments, most: most)
            #expect(failures == expected ?? moments.count, "most \(most), \(moments)")
            guard let expected else {
                #expect(error == nil)
                return ends.withLock { $0.lasted += 1 }
            }
            ends.withLock { $0.escalated += 1 }
            guard case .intensityExceeded(child: "bad", let history) = error else {
                Issue.record("not \(String(describing: error))")
                return
            }
            let counted = moments[..<expected].filter { moments[expected - 1] - $0 < Self.window }
            #expect(
                history.map(\.instant.sinceOrigin) == counted.map { Duration.seconds($0) })
        }
        #expect(ends.withLock { $0.escalated > 0 && $0.lasted > 0 })
    }

    /// Runs a child that fails at these moments, and then no more.
    private func supervise(
        _ moments: [Int], _ rules: Supervision, _ world: SimulatedWorld
    ) async throws -> (failures: Int, error: SupervisorError?) {
        let failures = Mutex(0)
        let error = try await failure(of: SupervisorError.self) {
            try await withSupervisor("s", rules) { (supervisor: borrowing Supervisor) in
                try supervisor.add(
                    ChildSpec("bad", restart: .transient) {
                        let number = failures.withLock { $0 }
                        guard number < moments.count else { return }
                        let moment = Duration.seconds(moments[number])
                        try await world.clock.sleep(for: moment - world.clock.now.sinceOrigin)
                        failures.withLock { $0 += 1 }
                        throw Broken(what: "\(number)")
                    })
                try await world.clock.sleep(for: .seconds(1_000))
            }
        }
        return (failures.withLock { $0 }, error)
    }
}
