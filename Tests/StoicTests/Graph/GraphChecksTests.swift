import StoicTesting
import Testing

@testable import Stoic

@Suite("ServiceGraph, checked before it runs", .timeLimit(.minutes(5)))
struct GraphChecksTests {
    typealias Fix = GraphFixture

    private func provide(_ key: ServiceKey<Int>, needs: ServiceKey<Int>...) -> Provide {
        Provide(key, needs: needs.map(\.any)) { _ in 1 }
    }

    private func message(@ServicesBuilder _ services: () -> [Provide]) -> String {
        do {
            _ = try ServiceGraph(label: "g", services)
            return "accepted"
        } catch { return "\(error)" }
    }

    @Test("GRA-4: duplicates, absent needs and cycles are refused, each with all its keys")
    func refusals() async {
        let recorder = EventRecorder()
        await withAmbient {
            $0.instrumentation = recorder
        } operation: {
            refuse()
        }
        #expect(recorder.names.isEmpty)
    }

    private func refuse() {
        #expect(
            message {
                provide(Fix.a)
                provide(Fix.a)
                provide(Fix.b)
                provide(Fix.b, needs: Fix.d)
            } == "a is provided more than once; b is provided more than once")
        #expect(
            message {
                provide(Fix.a, needs: Fix.b)
                provide(Fix.c, needs: Fix.d)
            } == "a needs b, which is not provided; c needs d, which is not provided")
        #expect(
            message {
                provide(Fix.a, needs: Fix.b)
                provide(Fix.b, needs: Fix.c)
                provide(Fix.c, needs: Fix.a)
            } == "cycle: a → b → c → a")
        #expect(message { provide(Fix.a, needs: Fix.a) } == "cycle: a → a")
    }

    @Test("GRA-5: reading what was not declared stops the process, naming reader and key")
    func undeclared() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let graph = try ServiceGraph(label: "g") {
                Provide(GraphFixture.a) { _ in 1 }
                Provide(GraphFixture.b) { services in services[GraphFixture.a] }
            }
            try await graph.run { _ in }
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("b reads a, which it does not declare"))
    }

    @Test("a graph explains itself")
    func explanation() throws {
        let graph = try ServiceGraph(label: "my \"app\"") {
            provide(Fix.b, needs: Fix.a)
            if true { provide(Fix.a) }
        }
        #expect(graph.explain.text == "a\nb needs a")
        #expect(
            graph.explain.dot == """
                digraph "my \\"app\\"" {
                  "a";
                  "b";
                  "b" -> "a";
                }
                """)
    }

    @MainActor @Test("the body runs on the caller's actor, with what is not Sendable")
    func actor() async throws {
        final class Counter { var count = 0 }
        let counter = Counter()
        let graph = try ServiceGraph(label: "g") { provide(Fix.a) }
        let value = try await withAmbient {
            $0.instrumentation = SilentInstrumentation()
        } operation: {
            try await graph.run { services in
                MainActor.assertIsolated()
                await Task.yield()
                counter.count += services[Fix.a]
                return counter
            }
        }
        #expect(value.count == 1)
    }

    @Test("who listens to a graph hears what is decided")
    func events() async throws {
        try await simulate { _ in
            let graph = try ServiceGraph(label: "g") { provide(Fix.a) }
            let events = graph.events
            try await graph.run { _ in }
            var names: [String] = []
            for await event in events {
                names.append(event.name.text)
                if event.name == .graphStopped { break }
            }
            #expect(
                names == [
                    "graph.starting", "service.starting", "service.started", "graph.started",
                    "graph.stopping", "service.stopping", "service.stopped", "graph.stopped",
                ])
        }
    }
}
