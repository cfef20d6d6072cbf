import StoicTesting
import Testing

@testable import Stoic

@Suite("ServiceGraph, on real threads", .timeLimit(.minutes(2)))
struct GraphThreadsTests {
    @Test("a start that ends on another thread before its launch is noted is up all the same")
    func startsFast() async throws {
        let key = ServiceKey<Int>("a")
        for _ in 0..<1_000 {
            // A start that is lost takes its whole timeout, and throws.
            let graph = try ServiceGraph(label: "g") { Provide(key) { _ in 1 } }
            let value = try await withAmbient {
                $0.instrumentation = SilentInstrumentation()
            } operation: {
                try await graph.run { services in services[key] }
            }
            #expect(value == 1)
        }
    }
}
