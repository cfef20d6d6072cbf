import StoicTesting
import Testing

@testable import Stoic

@Suite("ServiceGraph, stops that are cut short", .timeLimit(.minutes(20)))
struct GraphForceTests {
    typealias Fix = GraphFixture

    @Test(
        "GRA-22: forced, a service that waits for its turn is stopped all the same"
    )
    func forced() async throws {
        try await explore(under: SimulatedOrder.punctual) { world in
            let fix = GraphFixture(world: world)
            let graph = try ServiceGraph(label: "g") {
                Provide(Fix.a) { _ in
                    1
                } stop: { _, _ in
                    let cause = Cancellation.cause.map { "\($0)" } ?? "none"
                    fix.log.note("stop a: cancelled \(Task.isCancelled), \(cause)")
                }
                fix.service(Fix.b, needs: [Fix.a], takes: 5)
            }
            let forcing = spawn {
                do { try await world.clock.sleep(for: .seconds(7)) } catch { return }
                graph.force()
            }
            try await expectNoAbandonedWork {
                try await expectNoLeaks { try await graph.run { _ in } }
            }
            await forcing.value
            #expect(world.clock.now.sinceOrigin == .seconds(7))
            #expect(
                fix.log.lines.filter { $0.hasPrefix("stop") }.sorted() == [
                    "stop a: cancelled true, deadline expired", "stop b: success",
                ])
            try world.events.expectTrace(
                [.event("service.stopTimedOut", ["service": "a"]), "graph.stopped"], .inOrder)
        }
    }
}
