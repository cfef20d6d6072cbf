import StoicTesting
import Synchronization
import Testing

@testable import Stoic

/// What only real threads show: the simulation runs one job at a time and preempts none.
@Suite("ServiceGraph, on real threads", .timeLimit(.minutes(5)))
struct GraphStressTests {
    @Test("GRA-19: starts that return at once, on every thread there is, a thousand times")
    func immediateStarts() async throws {
        let recorder = EventRecorder()
        let stops = Mutex(0)
        try await withAmbient {
            $0.instrumentation = InstrumentationFilter(recorder) { $0.level >= .warning }
        } operation: {
            for _ in 0..<1_000 {
                let keys = (0..<8).map { ServiceKey<Int>("s\($0)") }
                let graph = try ServiceGraph(label: "g", stopOrder: .parallel) {
                    for (number, key) in keys.enumerated() {
                        Provide(key, needs: number < 4 ? [] : [keys[number - 4].any]) { _ in
                            number
                        } stop: { _, _ in
                            stops.withLock { $0 += 1 }
                        }
                    }
                }
                let sum = try await graph.run { services in
                    keys.reduce(0) { $0 + services[$1] }
                }
                #expect(sum == 28)
            }
        }
        #expect(stops.withLock { $0 } == 8_000)
        #expect(recorder.names.isEmpty)
    }

    @Test("GRA-19: callers cancelled at any moment, on real threads")
    func cancelled() async throws {
        let open = Counter()
        let recorder = EventRecorder()
        await withAmbient {
            $0.instrumentation = InstrumentationFilter(recorder) { $0.level >= .error }
        } operation: {
            for round in 0..<500 {
                let task = spawn { await runOnce(open) }
                for _ in 0..<(round % 17) { await Task.yield() }
                task.cancel()
                await task.value
            }
        }
        #expect(open.value.withLock { $0 } == 0)
        #expect(recorder.names.isEmpty)
    }

    private final class Counter: Sendable { let value = Mutex(0) }

    private func runOnce(_ open: Counter) async {
        let a = ServiceKey<Int>("a")
        let b = ServiceKey<Int>("b")
        do {
            let graph = try ServiceGraph(label: "g") {
                for (key, needs) in [(a, []), (b, [a.any])] {
                    Provide(key, needs: needs) { _ in
                        await Task.yield()
                        open.value.withLock { $0 += 1 }
                        return 1
                    } stop: { _, _ in
                        await Task.yield()
                        open.value.withLock { $0 -= 1 }
                    }
                }
            }
            try await graph.run { _ in for _ in 0..<5 { await Task.yield() } }
        } catch { /* Cancelled before it was up: what had started was stopped. */  }
    }
}
