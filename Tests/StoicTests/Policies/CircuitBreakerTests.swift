import StoicTesting
import Testing

@testable import Stoic

@Suite("CircuitBreaker", .timeLimit(.minutes(20)))
struct CircuitBreakerTests {
    @Test("BRK-1: nine failures of nine say nothing; the tenth call is judged, also a success")
    func minimum() async throws {
        try await simulate { world in
            let breaker = CircuitBreaker("db")
            let db = Dependency()
            for _ in 0..<9 { #expect(await breaker.word { try await db.fail() } == "failed") }
            #expect(breaker.phase == .closed)
            #expect(world.events.names.isEmpty)
            #expect(await breaker.word { await db.succeed() } == "value")
            guard case .open = breaker.phase else {
                Issue.record("nine of ten failed")
                return
            }
            #expect(world.events.names == ["breaker.opened"])
        }
    }

    @Test("BRK-2: open, it refuses at once and runs nothing")
    func refuses() async throws {
        try await simulate { world in
            let breaker = CircuitBreaker("db")
            let db = Dependency()
            for _ in 0..<5 { _ = await breaker.word { await db.succeed() } }
            for _ in 0..<5 { _ = await breaker.word { try await db.fail() } }
            guard case .open(let retryAfter) = breaker.phase else {
                Issue.record("half of ten failed")
                return
            }
            #expect(retryAfter >= .seconds(5) && retryAfter <= .seconds(10))
            await #expect(
                throws: PolicyError<Ill>.rejected(.breakerOpen(retryAfter: retryAfter))
            ) {
                try await breaker.run(db.fail)
            }
            #expect(db.calls == 10)
            #expect(world.events.names == ["breaker.opened", "breaker.rejected"])
        }
    }

    @Test("BRK-3: of many callers at the moment it half-opens, exactly one is a probe")
    func oneProbe() async throws {
        try await explore(seeds: 67, under: SimulatedOrder.punctual) { world in
            let breaker = CircuitBreaker("db")
            let db = Dependency()
            await breaker.trip(db)
            let callers = (0..<20).map { _ in
                spawn {
                    do { try await world.clock.sleep(for: .seconds(10)) } catch {}
                    return await breaker.word {
                        try await world.clock.sleep(for: .seconds(1))
                        return await db.succeed()
                    }
                }
            }
            var words: [String: Int] = [:]
            for caller in callers { words[await caller.value, default: 0] += 1 }
            #expect(words == ["value": 1, "refused": 19])
            #expect(world.events.names.filter { $0 == "breaker.halfOpened" }.count == 1)
        }
    }

    @Test("BRK-4: a cancelled probe gives its place to the next caller")
    func cancelledProbe() async throws {
        try await simulate { world in
            let breaker = CircuitBreaker("db")
            let db = Dependency()
            await breaker.trip(db)
            try await world.clock.sleep(for: .seconds(10))
            let probe = spawn {
                await breaker.word {
                    try await world.clock.sleep(for: .seconds(60))
                    return await db.succeed()
                }
            }
            try await settle(world)
            #expect(breaker.phase == .halfOpen)
            #expect(await breaker.word { await db.succeed() } == "refused")
            probe.cancel()
            #expect(await probe.value == "cancelled")
            #expect(breaker.phase == .halfOpen)
            for _ in 0..<3 { #expect(await breaker.word { await db.succeed() } == "value") }
            #expect(breaker.phase == .closed)
            #expect(
                world.events.names == [
                    "breaker.opened", "breaker.halfOpened", "breaker.rejected", "breaker.closed",
                ])
        }
    }

    @Test("BRK-4: a probe that hangs does not hold it half-open: it opens after halfOpenMaxWait")
    func hungProbe() async throws {
        try await simulate { world in
            let breaker = CircuitBreaker("db")
            let db = Dependency()
            await breaker.trip(db)
            try await world.clock.sleep(for: .seconds(10))
            let probe = spawn {
                await breaker.word {
                    try await world.clock.sleep(for: .seconds(300))
                    return await db.succeed()
                }
            }
            try await world.clock.sleep(for: .seconds(9))
            #expect(await breaker.word { await db.succeed() } == "refused")
            #expect(breaker.phase == .halfOpen)
            try await world.clock.sleep(for: .seconds(2))
            #expect(await breaker.word { await db.succeed() } == "refused")
            guard case .open = breaker.phase else {
                Issue.record("the probe hangs")
                return
            }
            try await world.clock.sleep(for: .seconds(20))
            for _ in 0..<3 { #expect(await breaker.word { await db.succeed() } == "value") }
            #expect(breaker.phase == .closed)
            #expect(await probe.value == "value")
            #expect(breaker.phase == .closed)
            #expect(
                world.events.names == [
                    "breaker.opened", "breaker.halfOpened", "breaker.rejected", "breaker.opened",
                    "breaker.rejected", "breaker.halfOpened", "breaker.closed",
                ])
        }
    }

    @Test("BRK-5: a probe that fails opens it for twice as long, up to the cap")
    func doubles() async throws {
        try await simulate { world in
            let breaker = CircuitBreaker("db")
            let db = Dependency()
            await breaker.trip(db)
            var bounds: [(Duration, Duration)] = [(.seconds(5), .seconds(10))]
            bounds += [(.seconds(10), .seconds(20)), (.seconds(20), .seconds(40))]
            bounds += [(.seconds(30), .seconds(60)), (.seconds(30), .seconds(60))]
            for (least, most) in bounds {
                guard case .open(let wait) = breaker.phase else {
                    Issue.record("a failed probe")
                    return
                }
                #expect(least <= wait && wait <= most)
                try await world.clock.sleep(for: wait)
                #expect(await breaker.word { try await db.fail() } == "failed")
            }
            let names = world.events.names.filter { $0 != "breaker.opened" }
            #expect(names == Array(repeating: "breaker.halfOpened", count: 5))
            #expect(world.events.names.count == 11)
        }
    }

    @Test("BRK-6: what an older call comes to changes nothing")
    func late() async throws {
        try await simulate { world in
            let breaker = CircuitBreaker("db")
            let db = Dependency()
            let early = (0..<4).map { number in
                spawn {
                    await breaker.word {
                        try await world.clock.sleep(for: .seconds(11))
                        return number % 2 == 0 ? await db.succeed() : try await db.fail()
                    }
                }
            }
            try await settle(world)
            await breaker.trip(db)
            let names = world.events.names
            try await world.clock.sleep(for: .seconds(10))
            #expect(await breaker.word { await db.succeed() } == "value")
            try await world.clock.sleep(for: .seconds(2))
            for call in early { _ = await call.value }
            #expect(breaker.phase == .halfOpen, "neither closed nor opened by them")
            #expect(world.events.names == names + ["breaker.halfOpened"])
        }
    }

    @Test("BRK-7: what is older than the window is forgotten, however far the clock jumps")
    func window() async throws {
        try await simulate { world in
            let breaker = CircuitBreaker("db")
            let db = Dependency()
            for _ in 0..<9 { _ = await breaker.word { try await db.fail() } }
            try await world.clock.sleep(for: .seconds(31))
            _ = await breaker.word { try await db.fail() }
            #expect(breaker.phase == .closed)
            try await world.clock.sleep(for: .century / 2)
            for _ in 0..<9 { _ = await breaker.word { try await db.fail() } }
            #expect(breaker.phase == .closed)
            #expect(world.events.names.isEmpty)
        }
    }
}
