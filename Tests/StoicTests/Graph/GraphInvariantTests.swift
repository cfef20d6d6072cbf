import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("ServiceGraph, invariants", .timeLimit(.minutes(20)))
struct GraphInvariantTests {
    /// A random graph whose starts and stops take random times, and sometimes fail.
    private struct Scenario {
        var random: RandomSource
        let size: Int
        let fails: Bool
        var needs: [[Int]] = []

        init(seed: UInt64, size: Int, fails: Bool) {
            random = .seeded(seed)
            self.size = size
            self.fails = fails
            for number in 0..<size {
                let most = min(number, 3)
                let count = most == 0 ? 0 : Int.random(in: 0...most, using: &random)
                let picked = (0..<count).map { _ in Int.random(in: 0..<number, using: &random) }
                needs.append(Array(Set(picked)).sorted())
            }
        }
    }

    /// What happened to one service.
    private struct Times {
        var startBegan: Int?
        var startEnded: Int?
        var stopBegan: Int?
        var stopEnded: Int?
        var stops = 0
    }

    private enum Moment { case startBegan, startEnded, stopBegan, stopEnded }

    /// What happened, each thing with its place in the order of all.
    private final class Table: Sendable {
        private let state: Mutex<(moments: Int, times: [Times])>
        var moments: Int { state.withLock { $0.moments } }
        var times: [Times] { state.withLock { $0.times } }

        init(_ size: Int) { state = Mutex((0, Array(repeating: Times(), count: size))) }

        func note(_ number: Int, _ moment: Moment) {
            state.withLock { state in
                state.moments += 1
                switch moment {
                case .startBegan: state.times[number].startBegan = state.moments
                case .startEnded: state.times[number].startEnded = state.moments
                case .stopEnded: state.times[number].stopEnded = state.moments
                case .stopBegan:
                    state.times[number].stopBegan = state.moments
                    state.times[number].stops += 1
                }
            }
        }
    }

    @Test("GRA-17: random graphs of 500 services keep the order, whatever fails")
    func largeGraphs() async throws {
        try await check(seeds: 6, under: [.uniform], size: 500)
    }

    @Test("GRA-17: two hundred seeds of small graphs, in any order of what could run")
    func manySeeds() async throws {
        try await check(seeds: 51, under: SimulatedOrder.portfolio, size: 12)
    }

    private func check(seeds: Int, under orders: [SimulatedOrder], size: Int) async throws {
        try await explore(seeds: seeds, under: orders) { world in
            let seed = world.seed
            let scenario = Scenario(seed: seed, size: size, fails: seed % 3 == 0)
            let table = Table(size)
            let keys = (0..<size).map { ServiceKey<Int>("s\($0)") }
            let graph = try ServiceGraph(
                label: "g", stopOrder: seed % 2 == 0 ? .reverse : .parallel
            ) {
                for number in 0..<size {
                    service(number, keys, scenario, table, world)
                }
            }
            do { try await graph.run { _ in } } catch is ServiceGraphError {}
            let ended = table.moments
            try await world.clock.sleep(for: .seconds(1_000))
            // Where timers overtake, a time may be over before anything of it was used: then what
            // was left behind goes on.
            let left: Set<String> = ["service.stopAbandoned", "service.lateStart"]
            if left.isDisjoint(with: world.events.names) {
                // I4: nothing runs any more.
                #expect(table.moments == ended, "seed \(seed)")
                verify(table.times, scenario, seed)
            } else {
                #expect(!world.isPunctual, "seed \(seed)")
            }
            #expect(world.clock.sleeperCount == 0, "seed \(seed)")
        }
    }

    private func service(
        _ number: Int, _ keys: [ServiceKey<Int>], _ scenario: Scenario, _ table: Table,
        _ world: SimulatedWorld
    ) -> Provide {
        var random = RandomSource.seeded(UInt64(number) &* 7_919 &+ UInt64(scenario.size))
        let begin = Duration.milliseconds(Int.random(in: 0...50, using: &random))
        let end = Duration.milliseconds(Int.random(in: 0...50, using: &random))
        let fails = scenario.fails && number > 0 && number % 97 == scenario.size % 7
        return Provide(keys[number], needs: scenario.needs[number].map { keys[$0].any }) { _ in
            table.note(number, .startBegan)
            try await world.clock.sleep(for: begin)
            if fails { throw Broken(what: "\(number)") }
            table.note(number, .startEnded)
            return number
        } stop: { _, _ in
            table.note(number, .stopBegan)
            try await world.clock.sleep(for: end)
            table.note(number, .stopEnded)
        }
    }

    private func verify(_ times: [Times], _ scenario: Scenario, _ seed: UInt64) {
        for (number, time) in times.enumerated() {
            for need in scenario.needs[number] {
                // I1: it begins after everything it needs has started.
                if let began = time.startBegan {
                    #expect((times[need].startEnded ?? .max) < began, "seed \(seed)")
                }
                // I2: what it needs stops after it.
                if let ended = time.stopEnded, let other = times[need].stopBegan {
                    #expect(ended < other, "seed \(seed)")
                }
            }
            // I3: stopped once, if and only if its start ended.
            #expect(time.stops == (time.startEnded == nil ? 0 : 1), "seed \(seed)")
        }
    }
}
