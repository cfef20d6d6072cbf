import StoicTesting
import Testing

@testable import Stoic

@Suite("Bulkhead", .timeLimit(.minutes(20)))
struct BulkheadTests {
    @Test("BLK-1: the last of limit + queue + 1 callers is refused at once")
    func full() async throws {
        try await simulate { world in
            let bulkhead = Bulkhead(limit: 2, queue: 2)
            let ends = Notes()
            let callers = (0..<5).map { number in
                spawn {
                    do {
                        try await bulkhead.run {
                            try await world.clock.sleep(for: .seconds(1))
                        }
                        ends.add("\(number) at \(world.clock.now.sinceOrigin)")
                    } catch { ends.add("\(number): \(Rejection(in: error).debugDescription)") }
                }
            }
            for caller in callers { await caller.value }
            #expect(ends.lines.first?.contains("bulkheadFull") == true)
            #expect(ends.lines.count == 5)
            #expect(world.clock.now.sinceOrigin == .seconds(2))
            #expect(
                world.events.names == [
                    "bulkhead.queued", "bulkhead.queued", "bulkhead.rejected", "bulkhead.waited",
                    "bulkhead.waited",
                ])
        }
    }

    @Test("BLK-2: timed out, cancelled and admitted at once: one end, and no place is lost")
    func races() async throws {
        try await explore(seeds: 2_500) { world in
            let seed = world.seed
            let bulkhead = Bulkhead(limit: 1, queue: 2, maxWait: .seconds(1))
            let ends = Notes()
            let callers = (0..<3).map { _ in
                spawn {
                    do {
                        try await bulkhead.run {
                            try await world.clock.sleep(for: .seconds(1))
                        }
                        ends.add("ran")
                    } catch { ends.add("\(error)") }
                }
            }
            try await world.clock.sleep(for: .seconds(1))
            callers[2].cancel()
            for caller in callers { await caller.value }
            #expect(ends.lines.count == 3)
            #expect(bulkhead.running == 0 && bulkhead.waiting == 0, "seed \(seed)")
            let known = ["bulkhead.queued", "bulkhead.waited", "bulkhead.rejected"]
            #expect(world.events.names.allSatisfy(known.contains))
        }
    }

    @Test("BLK-3: a holder that throws, or is cancelled, gives its place back")
    func throwing() async throws {
        try await simulate { world in
            let bulkhead = Bulkhead(limit: 1)
            await #expect(throws: PolicyError<Ill>.failed(Ill())) {
                try await bulkhead.run { () async throws(Ill) in throw Ill() }
            }
            #expect(bulkhead.running == 0)
            let holder = spawn { () -> Bool in
                do {
                    try await bulkhead.run { try await world.clock.sleep(for: .seconds(9)) }
                    return false
                } catch { return error is CancellationError }
            }
            try await settle(world)
            #expect(bulkhead.running == 1)
            holder.cancel()
            #expect(await holder.value)
            #expect(bulkhead.running == 0)
            #expect(world.events.names.isEmpty)
        }
    }

    @Test("BLK-4: a deadline that passes during the wait refuses: nothing has run")
    func deadline() async throws {
        try await simulate { world in
            let bulkhead = Bulkhead(limit: 1)
            let holder = spawn {
                do {
                    try await bulkhead.run { try await world.clock.sleep(for: .seconds(9)) }
                } catch {}
            }
            try await settle(world)
            await #expect(throws: PolicyError<any Error>.self) {
                try await withDeadline(.in(.seconds(1))) {
                    try await bulkhead.run { try await world.clock.sleep(for: .seconds(1)) }
                }
            }
            do {
                try await withTimeout(.seconds(1)) {
                    try await bulkhead.run { try await world.clock.sleep(for: .seconds(1)) }
                }
                Issue.record("there is no place")
            } catch { #expect(Rejection(in: error) == .deadlinePassed) }
            await holder.value
            #expect(bulkhead.waiting == 0 && bulkhead.running == 0)
            #expect(
                world.events.names == [
                    "bulkhead.queued", "deadline.expired", "bulkhead.queued", "deadline.expired",
                ])
        }
    }

    @MainActor @Test("the operation stays on the caller's actor, with what only that may touch")
    func actor() async throws {
        final class Counter { var count = 0 }
        let counter = Counter()
        let bulkhead = Bulkhead(limit: 1)
        try await bulkhead.run {
            MainActor.assertIsolated()
            await Task.yield()
            counter.count += 1
        }
        #expect(counter.count == 1)
    }
}
