import StoicTesting
import Testing

@testable import Stoic

@Suite("simulation, standstill and time", .timeLimit(.minutes(20)))
struct StandstillTests {
    @Test("TST-9: a deadlock names every waiter: what for, where, whose, in which scopes")
    func deadlock() async throws {
        let error = try await thrown(SimulatedDeadlock.self) {
            try await simulate(seed: 5) { _ in
                let forks = Semaphore("fork", limit: 1, queue: 1)
                let spoons = Semaphore("spoon", limit: 1, queue: 1)
                await withScope("table") { (scope: borrowing Scope) in
                    for (first, second) in [(forks, spoons), (spoons, forks)] {
                        scope.fork("philosopher") {
                            let left = try await first.acquire()
                            await Task.yield()
                            let right = try await second.acquire()
                            right.release()
                            left.release()
                        }
                    }
                    await Completion<Void>().wait(for: Site("the meal"))
                }
            }
        }
        let waiters = try #require(error?.waiters)
        #expect(waiters.count == 3)
        for name in ["fork", "spoon"] {
            let line = try #require(waiters.first { $0.contains("\"\(name)\"") })
            #expect(line.contains("waits for a permit of a semaphore (Stoic/Semaphore.swift:"))
            #expect(line.hasSuffix("in table"))
        }
        #expect(waiters.contains { $0.contains("waits for the meal (StoicTestingTests/") })
        #expect("\(try #require(error))".contains("(seed 5, order fifo)"))
    }

    @Test("TST-9: a wait outside of the library is said to be outside")
    func outside() async throws {
        let error = try await thrown(SimulatedDeadlock.self) {
            try await simulate { _ in
                let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
                for await _ in stream {}
                continuation.finish()
            }
        }
        #expect(error?.waiters == [])
        #expect("\(try #require(error))".contains("outside of the library"))
    }

    @Test("TST-10: a test waits for the arrival of sleepers, without time passing")
    func arrival() async throws {
        try await explore { world in
            try await withThrowingTaskGroup { group in
                for number in 1...3 {
                    group.addTask {
                        for _ in 0..<number { await Task.yield() }
                        try await world.clock.sleep(for: .seconds(number))
                    }
                }
                await world.clock.sleepers(count: 3)
                #expect(world.clock.sleeperCount == 3)
                #expect(world.clock.now.sinceOrigin == .zero)
                #expect(world.clock.nextScheduled?.sinceOrigin == .seconds(1))
                try await group.waitForAll()
            }
        }
    }

    @Test("TST-10: sleepers that never arrive are a standstill, not an endless wait")
    func noArrival() async throws {
        let error = try await thrown(SimulatedDeadlock.self) {
            try await simulate { world in
                try await withThrowingTaskGroup { group in
                    group.addTask { try await world.clock.sleep(for: .seconds(1)) }
                    await world.clock.sleepers(count: 2)
                    try await group.waitForAll()
                }
            }
        }
        #expect(error?.waiters == ["a test waits for sleepers that do not arrive"])
    }

    @Test("TST-11: advance returns when all that fell due has parked again or ended")
    func advance() async throws {
        try await explore { world in
            let cell = Cell()
            try await withThrowingTaskGroup { group in
                for number in 0..<4 {
                    group.addTask {
                        for _ in 0..<2 {
                            try await world.clock.sleep(for: .seconds(30))
                            for _ in 0..<number { await Task.yield() }
                            cell.value += 1
                        }
                    }
                }
                await world.clock.sleepers(count: 4)
                try await world.clock.advance(by: .seconds(30))
                #expect(cell.value == 4)
                #expect(world.clock.sleeperCount == 4)
                try await world.clock.advance(by: .seconds(31))
                #expect(cell.value == 8)
                #expect(world.clock.sleeperCount == 0)
                try await group.waitForAll()
            }
        }
    }

    @Test("TST-11: outside of a simulation advance wakes who is due, in order, and returns")
    func alone() async throws {
        let clock = TestClock()
        let woken = Cell()
        try await withThrowingTaskGroup { group in
            for number in 1...3 {
                group.addTask {
                    try await clock.sleep(for: .seconds(number))
                    woken.value += 1
                }
            }
            await clock.sleepers(count: 3)
            try await clock.advance(by: .seconds(2))
            #expect(clock.sleeperCount == 1)
            #expect(clock.now.sinceOrigin == .seconds(2))
            try await clock.advance(by: .seconds(2))
            try await group.waitForAll()
        }
        #expect(woken.value == 3)
    }

    @Test("TST-12: while the machine sleeps deadlines pass, and nobody was awake")
    func machineSleep() async throws {
        try await explore(under: SimulatedOrder.punctual) { world in
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await world.ambientClock.sleep(for: .seconds(60))
                    #expect(world.clock.now.sinceOrigin == .seconds(600))
                }
                group.addTask {
                    let begin = world.awakeClock.now
                    try await world.awakeClock.sleep(for: .seconds(60))
                    #expect(begin.duration(to: world.awakeClock.now) == .seconds(60))
                    #expect(world.clock.now.sinceOrigin == .seconds(660))
                }
                await world.clock.sleepers(count: 2)
                world.sleepMachine(for: .seconds(600))
                try await group.waitForAll()
            }
        }
    }
}
