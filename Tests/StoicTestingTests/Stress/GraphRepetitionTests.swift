import StoicTesting
import Synchronization
import Testing

@testable import Stoic

/// What a service graph promises, two hundred times, each in an order of its own.
@Suite("service graph, two hundred times", .timeLimit(.minutes(30)))
struct GraphRepetitionTests {
    private static let seeds = 67

    private static let a = ServiceKey<Int>("a")
    private static let b = ServiceKey<Int>("b")
    private static let c = ServiceKey<Int>("c")

    private final class Log: Sendable {
        private let all = Mutex<[String]>([])
        var lines: [String] { all.withLock { $0 } }
        func note(_ line: String) { all.withLock { $0.append(line) } }
    }

    private struct Bad: Error, Equatable {}

    /// A service that starts within `seconds` and says what happens to it.
    private static func service(
        _ key: ServiceKey<Int>, needs: [ServiceKey<Int>] = [], takes seconds: Int = 1,
        _ world: SimulatedWorld, _ log: Log
    ) -> Provide {
        Provide(key, needs: needs.map(\.any), startTimeout: .seconds(20)) { _ in
            log.note("start \(key.name)")
            try await world.clock.sleep(for: .seconds(seconds))
            log.note("up \(key.name)")
            return seconds
        } stop: { _, exit in
            log.note("stop \(key.name): \(exit.summary)")
        }
    }

    private func repeated(
        _ body: @escaping @Sendable (SimulatedWorld, Log) async throws -> Void
    ) async throws {
        try await explore(seeds: Self.seeds, under: SimulatedOrder.punctual) { world in
            let log = Log()
            try await expectNoAbandonedWork {
                try await expectNoLeaks { try await body(world, log) }
            }
        }
    }

    @Test("GRA-1: independent starts overlap, and stops reverse the order of completions")
    func orders() async throws {
        try await repeated { world, log in
            let graph = try ServiceGraph(label: "g") {
                Self.service(Self.c, needs: [Self.a, Self.b], world, log)
                Self.service(Self.a, takes: 3, world, log)
                Self.service(Self.b, takes: 2, world, log)
            }
            let sum = try await withGraph(graph) { $0[Self.a] + $0[Self.b] + $0[Self.c] }
            #expect(sum == 6)
            #expect(world.clock.now.sinceOrigin == .seconds(4))
            let ups = log.lines.filter { $0.hasPrefix("up") }
            #expect(ups == ["up b", "up a", "up c"])
            let stops = log.lines.filter { $0.hasPrefix("stop") }
            #expect(stops == ["stop c: success", "stop a: success", "stop b: success"])
            try world.events.expectTrace(chains: [
                ["graph.starting", .event("service.started", ["service": "c"]), "graph.started"],
                ["graph.stopping", .event("service.stopped", ["service": "c"]), "graph.stopped"],
            ])
        }
    }

    @Test("GRA-2: two services of one type")
    func oneType() async throws {
        try await repeated { world, log in
            let graph = try ServiceGraph(label: "g") {
                Self.service(Self.a, takes: 1, world, log)
                Self.service(Self.b, takes: 2, world, log)
            }
            let both = try await withGraph(graph) { [$0[Self.a], $0[Self.b]] }
            #expect(both == [1, 2])
        }
    }

    @Test("GRA-4: what is wrong with a graph is said before anything starts")
    func refused() async throws {
        try await repeated { world, log in
            func message(@ServicesBuilder _ services: () -> [Provide]) -> String {
                do { _ = try ServiceGraph(label: "g", services) } catch { return "\(error)" }
                return "accepted"
            }
            let twice = message {
                Self.service(Self.a, world, log)
                Self.service(Self.a, world, log)
            }
            #expect(twice == "a is provided more than once")
            let missing = message { Self.service(Self.a, needs: [Self.b], world, log) }
            #expect(missing == "a needs b, which is not provided")
            let cycle = message {
                Self.service(Self.a, needs: [Self.b], world, log)
                Self.service(Self.b, needs: [Self.c], world, log)
                Self.service(Self.c, needs: [Self.a], world, log)
            }
            #expect(cycle == "cycle: a → b → c → a")
            #expect(log.lines.isEmpty)
        }
    }

    @Test("GRA-6: a start that fails: what had started is stopped, the rest is cancelled")
    func failingStart() async throws {
        try await repeated { world, log in
            let graph = try ServiceGraph(label: "g") {
                Self.service(Self.a, world, log)
                Provide(Self.b, needs: [Self.a.any]) { _ in throw Bad() }
                Self.service(Self.c, takes: 9, world, log)
            }
            try await expectFailure(of: graph, at: Self.b) { $0 is Bad }
            #expect(log.lines.filter { $0.hasPrefix("stop") } == ["stop a: failure"])
            #expect(world.clock.now.sinceOrigin == .seconds(1))
            try world.events.expectTrace(
                [
                    .event("service.startFailed", ["service": "b"]),
                    .event("service.stopped", ["service": "a"]), "graph.stopped",
                ], .inOrder)
        }
    }

    @Test("GRA-7: a start that takes too long: the same, with the deadline as its error")
    func slowStart() async throws {
        try await repeated { world, log in
            let graph = try ServiceGraph(label: "g") {
                Self.service(Self.a, world, log)
                Self.service(Self.b, needs: [Self.a], takes: 99, world, log)
            }
            try await expectFailure(of: graph, at: Self.b) { $0 is DeadlineExceeded }
            #expect(log.lines.filter { $0.hasPrefix("stop") } == ["stop a: failure"])
            #expect(world.clock.now.sinceOrigin == .seconds(21))
            try world.events.expectTrace(["service.startTimedOut", "graph.stopped"], .inOrder)
        }
    }

    @Test("GRA-10: a body that fails is followed by every stop")
    func failingBody() async throws {
        try await repeated { world, log in
            let graph = try ServiceGraph(label: "g") {
                Self.service(Self.a, world, log)
                Self.service(Self.b, needs: [Self.a], world, log)
            }
            await #expect(throws: Bad.self) { try await withGraph(graph) { _ in throw Bad() } }
            let stops = log.lines.filter { $0.hasPrefix("stop") }
            #expect(stops == ["stop b: failure", "stop a: failure"])
        }
    }

    private func expectFailure(
        of graph: ServiceGraph, at key: ServiceKey<Int>, _ isRight: (any Error) -> Bool
    ) async throws {
        do {
            try await withGraph(graph) { _ in _ = Issue.record("the body ran") }
            Issue.record("it started")
        } catch ServiceGraphError.startFailed(let failure) {
            #expect(failure.key == key.any)
            #expect(isRight(failure.underlying))
        }
    }
}
