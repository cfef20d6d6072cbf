import StoicTesting
import Synchronization
import Testing

@testable import Stoic

/// Answers each call after a time of its own, with its number or, where that is negative, fails.
final class SlowDependency: Sendable {
    private let clock: TestClock
    private let seconds: [Int]
    private let state = Mutex((begun: 0, running: 0))

    init(_ world: SimulatedWorld, seconds: [Int]) {
        clock = world.clock
        self.seconds = seconds
    }

    var begun: Int { state.withLock { $0.begun } }
    var running: Int { state.withLock { $0.running } }

    func ask() async throws -> Int {
        let number = state.withLock { state in
            state.begun += 1
            state.running += 1
            return state.begun
        }
        defer { state.withLock { $0.running -= 1 } }
        let takes = seconds[number - 1]
        try await clock.sleep(for: .seconds(abs(takes)))
        if takes < 0 { throw Failed(number: number) }
        return number
    }

    struct Failed: Error, Equatable { let number: Int }
}

@Suite("Hedge", .timeLimit(.minutes(20)))
struct HedgeTests {
    @Test("HDG-1: an answer before the delay: one call, and its budget is as full as before")
    func quick() async throws {
        try await simulate { world in
            let db = SlowDependency(world, seconds: [1])
            let answer = try await Hedge().run { try await db.ask() }
            #expect(answer == 1)
            try await settle(world)
            #expect(db.begun == 1)
            #expect(world.clock.now.sinceOrigin < .seconds(2))
            #expect(world.clock.sleeperCount == 0)
            #expect(RetryBudget.ambientDefault.remaining == 500)
            #expect(world.events.names.isEmpty)
        }
    }

    @Test("HDG-2: a slow answer: a second call, the first value counts, the other call has ended")
    func slow() async throws {
        for (seconds, winner, time) in [([9, 1], 2, 3), ([3, 9], 1, 3)] {
            try await simulate { world in
                let db = SlowDependency(world, seconds: seconds)
                let answer = try await Hedge().run { try await db.ask() }
                #expect(answer == winner)
                #expect(world.clock.now.sinceOrigin == .seconds(time))
                #expect(db.begun == 2 && db.running == 0)
                #expect(RetryBudget.ambientDefault.remaining == 495)
                #expect(world.events.names == ["hedge.started", "hedge.won"])
                let by = world.events.events.last?.fields.last
                #expect(by == .init("by", winner == 1 ? "first" : "second"))
            }
        }
    }

    @Test("HDG-3: a failure before the delay is thrown at once, and nothing is called again")
    func failsEarly() async throws {
        try await simulate { world in
            let db = SlowDependency(world, seconds: [-1])
            let error = await thrown { try await Hedge().run { try await db.ask() } }
            #expect(error == "PolicyError<Error>: 1")
            #expect(world.clock.now.sinceOrigin == .seconds(1))
            #expect(db.begun == 1)
            #expect(world.events.names.isEmpty)
        }
    }

    @Test("HDG-4: one of two calls fails: the other's value; both: the error that came first")
    func failsLate() async throws {
        try await simulate { world in
            let mixed = SlowDependency(world, seconds: [-3, 4])
            let answer = try await Hedge().run { try await mixed.ask() }
            #expect(answer == 2)
            let both = SlowDependency(world, seconds: [-9, -1])
            let error = await thrown { try await Hedge().run { try await both.ask() } }
            #expect(error == "PolicyError<Error>: 2")
            #expect(
                world.events.names == ["hedge.started", "hedge.won", "hedge.started"])
        }
    }

    @Test("HDG-5: the budget is empty: no second call")
    func budget() async throws {
        try await simulate { world in
            let budget = RetryBudget(.init(capacity: 4))
            let db = SlowDependency(world, seconds: [9])
            let hedge = Hedge(budget: .shared(budget))
            let answer = try await hedge.run { try await db.ask() }
            #expect(answer == 1)
            #expect(db.begun == 1)
            #expect(world.events.names.prefix(2) == ["budget.exhausted", "hedge.refused"])
        }
    }

    @Test("HDG-6: a cancelled caller: both calls are cancelled and have ended")
    func cancelled() async throws {
        try await explore(seeds: 67, under: SimulatedOrder.punctual) { world in
            let seed = world.seed
            let db = SlowDependency(world, seconds: [99, 99])
            let call = spawn { () -> String in
                await thrown { try await Hedge().run { try await db.ask() } }
            }
            try await world.clock.sleep(for: .seconds(2 + Int(seed % 2)))
            call.cancel()
            #expect(await call.value == "CancellationError: nil")
            #expect(db.running == 0)
            // At two seconds the second call may not have begun.
            let names = world.events.names
            #expect(names == ["hedge.started"] || names.isEmpty && seed.isMultiple(of: 2))
        }
    }

    @Test("HDG-7: a call that lost and ignores its cancellation is left behind in its time")
    func stubborn() async throws {
        try await simulate { world in
            let number = Mutex(0)
            let value = try await Hedge(losersWithin: .seconds(1)).run { () async throws -> Int in
                let number = number.withLock { number in
                    number += 1
                    return number
                }
                guard number == 1 else { return number }
                await shielded {
                    do { try await world.clock.sleep(for: .seconds(60)) } catch {}
                }
                return number
            }
            #expect(value == 2)
            #expect(world.clock.now.sinceOrigin == .seconds(3))
            #expect(world.events.names.contains("deadline.abandoned"))
            try await world.clock.sleep(for: .seconds(60))
            #expect(world.events.names.last == "deadline.abandonedReturned")
        }
    }

    @Test("HDG-8: the delay is on the clock that is given")
    func clock() async throws {
        try await simulate { world in
            let other = TestClock()
            let db = SlowDependency(world, seconds: [9])
            let answer = try await Hedge().run(clock: other) { try await db.ask() }
            #expect(answer == 1)
            #expect(db.begun == 1)
            #expect(world.events.names.isEmpty)
        }
    }
}

/// The type of what a call throws, and which call of a `SlowDependency` failed.
private func thrown(_ call: () async throws -> Int) async -> String {
    do { return "value \(try await call())" } catch {
        let failed = innermostError(error) as? SlowDependency.Failed
        return "\(type(of: error)): \(failed.map { "\($0.number)" } ?? "nil")"
    }
}
