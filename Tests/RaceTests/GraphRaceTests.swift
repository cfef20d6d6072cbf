import Synchronization
import Testing

@testable import Stoic

/// What only real threads show: the simulation runs one job at a time and preempts none.
@Suite("ServiceGraph, on real threads", .timeLimit(.minutes(5)))
struct GraphRaceTests {
    @Test("GRA-19: starts that return at once, on every thread there is, hundreds of times")
    func immediateStarts() async throws {
        let complaints = Complaints(from: .warning)
        let stops = Count()
        try await withAmbient {
            $0.instrumentation = complaints
        } operation: {
            for _ in 0..<300 {
                let keys = (0..<8).map { ServiceKey<Int>("s\($0)") }
                let graph = try ServiceGraph(label: "g", stopOrder: .parallel) {
                    for (number, key) in keys.enumerated() {
                        Provide(key, needs: number < 4 ? [] : [keys[number - 4].any]) { _ in
                            number
                        } stop: { _, _ in
                            stops.enter()
                        }
                    }
                }
                let sum = try await graph.run { services in
                    keys.reduce(0) { $0 + services[$1] }
                }
                #expect(sum == 28)
            }
        }
        #expect(stops.total == 2_400)
        #expect(complaints.names.isEmpty)
    }

    @Test("a start that ends on another thread before its launch is noted is up all the same")
    func startsFast() async throws {
        let key = ServiceKey<Int>("a")
        for _ in 0..<500 {
            // A start that is lost takes its whole timeout, and throws.
            let graph = try ServiceGraph(label: "g") { Provide(key) { _ in 1 } }
            let value = try await silently { try await graph.run { services in services[key] } }
            #expect(value == 1)
        }
    }

    @Test("GRA-19: callers cancelled and stops asked for at any moment")
    func cancelled() async throws {
        let open = Count()
        let complaints = Complaints(from: .error)
        await withAmbient {
            $0.instrumentation = complaints
        } operation: {
            for round in 0..<300 {
                guard let graph = pair(open) else {
                    Issue.record("a pair is no graph")
                    return
                }
                let task = Task {
                    do {
                        try await graph.run { _ in for _ in 0..<5 { await Task.yield() } }
                    } catch { /* Ended before it was up: what had started was stopped. */  }
                }
                for _ in 0..<(round % 17) { await Task.yield() }
                switch round % 3 {
                case 0: task.cancel()
                case 1: graph.requestStop()
                default: graph.force()
                }
                await task.value
            }
        }
        #expect(open.now == 0)
        #expect(complaints.names.isEmpty)
    }

    private func pair(_ open: Count) -> ServiceGraph? {
        let a = ServiceKey<Int>("a")
        let b = ServiceKey<Int>("b")
        do {
            return try ServiceGraph(label: "g") {
                for (key, needs) in [(a, []), (b, [a.any])] {
                    Provide(key, needs: needs) { _ in
                        await Task.yield()
                        open.enter()
                        return 1
                    } stop: { _, _ in
                        await Task.yield()
                        open.leave()
                    }
                }
            }
        } catch { return nil }
    }
}
