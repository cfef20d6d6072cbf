import StoicTesting
import Testing

@testable import Stoic

@Suite("leak checks", .timeLimit(.minutes(20)))
struct LeakTests {
    /// Takes `duration` and does not care who is cancelled.
    @Sendable private static func stubborn(_ duration: Duration) async {
        await shielded {
            do { try await Ambient.current.clock.sleep(for: duration) } catch { return }
        }
    }

    @Test("TST-22: a task of the library, or a scope, that outlives its test is seen and named")
    func leak() async throws {
        try await simulate { world in
            let error = try await thrown(LeftBehind.self) {
                try await expectNoLeaks {
                    try await withScope("import") { (scope: borrowing Scope) in
                        scope.fork("stubborn") { await Self.stubborn(.seconds(60)) }
                        try await world.clock.sleep(for: .seconds(1))
                    }
                }
            }
            let left = try #require(error?.left)
            #expect(left.contains { $0.hasPrefix("a task (Stoic/ScopeCore.swift:") })
            #expect(left.contains { $0.hasSuffix("in import") })
            #expect(left.contains { $0.hasSuffix("more sleep than before") })
        }
        try await simulate { world in
            let error = try await thrown(LeftBehind.self) {
                try await expectNoLeaks {
                    _ = spawn {
                        await withScope("forgotten") { (_: borrowing Scope) in
                            await Self.stubborn(.seconds(60))
                        }
                    }
                }
            }
            #expect(error?.left.contains("scope \"forgotten\"") == true)
        }
    }

    @Test("TST-22: what ends in time is no leak, in a simulation and in real time")
    func clean() async throws {
        let work: @Sendable () async throws -> Void = {
            try await withScope("import") { (scope: borrowing Scope) in
                scope.fork("patient") { try await Ambient.current.clock.sleep(for: .seconds(60)) }
                _ = try await mapConcurrent(0..<5, limit: 2) { $0 }
            }
        }
        try await explore { _ in try await expectNoLeaks { try await work() } }
        try await expectNoLeaks { try await work() }
    }

    @Test("TST-23: abandoned work is counted until it ends")
    func abandoned() async throws {
        try await simulate { world in
            let error = try await thrown(LeftBehind.self) {
                try await expectNoAbandonedWork { try await Self.abandon(for: .seconds(60)) }
            }
            #expect(error?.left == ["1 pieces of abandoned work"])
            #expect(world.events.names.contains("deadline.abandoned"))
            try await expectNoAbandonedWork {
                try await Self.abandon(for: .seconds(60))
                try await world.clock.advance(by: .seconds(60))
            }
        }
    }

    @Sendable private static func abandon(for duration: Duration) async throws {
        do {
            try await withAbandoningDeadline(.in(.seconds(1)), label: "stubborn") {
                await stubborn(duration)
            }
        } catch is PolicyError<any Error> {} catch is PolicyError<Never> {}
    }

    private static let key = ServiceKey<Int>("service")

    @Test("TST-24: a graph that leaves nothing passes, in a simulation and in real time")
    func graph() async throws {
        let graph = try ServiceGraph(label: "g") { Provide(Self.key) { _ in 7 } }
        // A start that a slow machine does not even begin in its time is no fault of the graph.
        try await explore(under: SimulatedOrder.punctual) { _ in
            let value = try await withGraph(graph) { $0[Self.key] }
            #expect(value == 7)
        }
        #expect(try await withGraph(graph) { $0[Self.key] } == 7)
    }

    @Test("TST-24: a stop that is left behind fails the test")
    func hungStop() async throws {
        try await simulate { world in
            let graph = try ServiceGraph(label: "g") {
                Provide(Self.key) { _ in
                    7
                } stop: { _, _ in
                    await Self.stubborn(.seconds(60))
                }
            }
            let error = try await thrown(LeftBehind.self) {
                try await withGraph(graph) { _ in }
            }
            #expect(error?.left.contains { $0.contains("Stoic/GraphRun+Effects.swift:") } == true)
            #expect(world.events.names.contains("service.stopAbandoned"))
        }
    }

    @Test("TST-24: a body that throws hides nothing that is left, and is not hidden by it")
    func hungStopAfterFailure() async throws {
        struct Broken: Error {}
        try await simulate { _ in
            let graph = try ServiceGraph(label: "g") {
                Provide(Self.key) { _ in
                    7
                } stop: { _, _ in
                    await Self.stubborn(.seconds(60))
                }
            }
            let error = try await thrown(LeftBehind.self) {
                try await withGraph(graph) { _ in throw Broken() }
            }
            #expect(error?.thrown is Broken)
            #expect(error?.left.contains { $0.contains("abandoned work") } == true)
            #expect(error?.left.contains { $0.contains("Stoic/GraphRun+Effects.swift:") } == true)
        }
    }

    @MainActor @Test("TST-24: the body runs on the caller's actor")
    func actor() async throws {
        let graph = try ServiceGraph(label: "g") { Provide(Self.key) { _ in 7 } }
        try await withGraph(graph) { _ in
            MainActor.assertIsolated()
            await Task.yield()
            MainActor.assertIsolated()
        }
        try await withFaults { MainActor.assertIsolated() }
    }
}
