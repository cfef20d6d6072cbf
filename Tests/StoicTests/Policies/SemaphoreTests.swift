import StoicTesting
import Synchronization
import Testing

@testable import Stoic

/// What somebody did, in order.
final class Notes: Sendable {
    private let kept = Mutex<[String]>([])
    func add(_ line: String) { kept.withLock { $0.append(line) } }
    var lines: [String] { kept.withLock { $0 } }
}

/// Lets everything run that can, without time passing.
func settle(_ world: SimulatedWorld) async throws {
    try await world.clock.advance(by: .nanoseconds(1))
}

/// `#expect` copies its operands, which a permit does not allow.
func isNone(_ permit: borrowing Semaphore.Permit?) -> Bool {
    switch permit {
    case .none: true
    case .some: false
    }
}

@Suite("Semaphore", .timeLimit(.minutes(20)))
struct SemaphoreTests {
    @Test("SEM-1: a free permit is taken at once; given back by release and by scope")
    func free() async throws {
        try await simulate { world in
            let semaphore = Semaphore(limit: 2, queue: 0)
            do {
                let first = try await semaphore.acquire()
                let second = semaphore.tryAcquire()
                #expect(semaphore.available == 0)
                let third = semaphore.tryAcquire()
                let noneLeft = isNone(third)
                #expect(noneLeft)
                let isHeld = !isNone(second)
                #expect(isHeld)
                first.release()
                #expect(semaphore.available == 1)
            }
            #expect(semaphore.available == 2)
            #expect(world.events.names.isEmpty)
        }
    }

    @Test("SEM-2: first come, first served; nobody overtakes the line")
    func order() async throws {
        try await simulate { world in
            let semaphore = Semaphore(limit: 1, queue: 10)
            let log = Notes()
            let held = try await semaphore.acquire()
            var waiters: [Task<Void, Never>] = []
            for number in 0..<5 {
                waiters.append(
                    spawn {
                        do {
                            let permit = try await semaphore.acquire()
                            log.add("\(number)")
                            permit.release()
                        } catch { log.add("\(error)") }
                    })
                try await settle(world)
            }
            #expect(semaphore.waiting == 5)
            held.release()
            let overtaker = semaphore.tryAcquire()
            let refused = isNone(overtaker)
            #expect(refused, "the permit belongs to the line")
            for waiter in waiters { await waiter.value }
            #expect(log.lines == ["0", "1", "2", "3", "4"])
            #expect(semaphore.available == 1)
            #expect(world.events.names.filter { $0 == "semaphore.queued" }.count == 5)
            #expect(world.events.names.filter { $0 == "semaphore.waited" }.count == 5)
        }
    }

    @Test("SEM-3: a full line refuses at once")
    func full() async throws {
        try await simulate { world in
            let semaphore = Semaphore(limit: 1, queue: 0)
            let held = try await semaphore.acquire()
            await #expect(throws: PolicyError<Never>.rejected(.bulkheadFull)) {
                _ = try await semaphore.acquire()
            }
            #expect(world.clock.now.sinceOrigin == .zero)
            #expect(world.events.names == ["semaphore.rejected"])
            held.release()
        }
    }

    @Test("SEM-4: a wait ends in its time, with none left behind")
    func timeout() async throws {
        try await simulate { world in
            let semaphore = Semaphore(limit: 1, queue: 4)
            let held = try await semaphore.acquire()
            await #expect(throws: PolicyError<Never>.rejected(.bulkheadTimeout)) {
                _ = try await semaphore.acquire(within: .seconds(2))
            }
            #expect(world.clock.now.sinceOrigin == .seconds(2))
            await #expect(throws: PolicyError<Never>.rejected(.bulkheadTimeout)) {
                _ = try await semaphore.acquire(within: .zero)
            }
            #expect(semaphore.waiting == 0)
            held.release()
            #expect(semaphore.available == 1)
            #expect(world.clock.sleeperCount == 0)
            #expect(
                world.events.names == [
                    "semaphore.queued", "semaphore.rejected", "semaphore.rejected",
                ])
        }
    }

    @Test("SEM-5: a cancelled waiter frees its place in line at once")
    func cancelled() async throws {
        try await simulate { world in
            let semaphore = Semaphore(limit: 1, queue: 1)
            let held = try await semaphore.acquire()
            let waiter = spawn { () -> Bool in
                do {
                    _ = try await semaphore.acquire(within: .seconds(5))
                    return false
                } catch { return error is CancellationError }
            }
            try await settle(world)
            #expect(semaphore.waiting == 1)
            waiter.cancel()
            #expect(semaphore.waiting == 0)
            #expect(await waiter.value)
            held.release()
            #expect(semaphore.available == 1)
            #expect(world.events.names == ["semaphore.queued"])
        }
    }

    @Test("SEM-6: who is cancelled already takes nothing, also when a permit is free")
    func cancelledBefore() async throws {
        try await simulate { world in
            let semaphore = Semaphore(limit: 1, queue: 1)
            let task = spawn { () -> Bool in
                cancelCurrentTask()
                do {
                    _ = try await semaphore.acquire()
                    return false
                } catch { return error is CancellationError }
            }
            #expect(await task.value)
            #expect(semaphore.available == 1)
            #expect(world.events.names.isEmpty)
        }
    }

    @Test("SEM-7: granted, cancelled and timed out at once: one end, and no permit is lost")
    func races() async throws {
        try await explore(seeds: 500) { world in
            let seed = world.seed
            let semaphore = Semaphore(limit: 1, queue: 3)
            let ends = Notes()
            let held = try await semaphore.acquire()
            let waiters = (0..<3).map { _ in
                spawn {
                    do {
                        let permit = try await semaphore.acquire(within: .seconds(1))
                        ends.add("granted")
                        permit.release()
                    } catch { ends.add("\(error)") }
                }
            }
            let canceller = spawn {
                do { try await world.clock.sleep(for: .seconds(1)) } catch {}
                waiters[1].cancel()
            }
            try await world.clock.sleep(for: .seconds(1))
            held.release()
            await canceller.value
            for waiter in waiters { await waiter.value }
            #expect(ends.lines.count == 3)
            #expect(semaphore.available == 1, "seed \(seed)")
            #expect(semaphore.waiting == 0)
        }
    }

    @Test("SEM-8: the wait runs on the clock that is given")
    func clock() async throws {
        try await simulate { world in
            let other = TestClock()
            let semaphore = Semaphore(limit: 1, queue: 1)
            let held = try await semaphore.acquire()
            let waiter = spawn { () -> String in
                do {
                    _ = try await semaphore.acquire(within: .seconds(1), clock: other)
                    return "granted"
                } catch { return "\(error)" }
            }
            try await world.clock.sleep(for: .seconds(60))
            #expect(semaphore.waiting == 1)
            held.release()
            #expect(await waiter.value == "granted")
            #expect(other.sleeperCount == 0)
            #expect(world.events.names == ["semaphore.queued", "semaphore.waited"])
        }
    }
}
