import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("WorkSlot and its owner", .timeLimit(.minutes(20)))
struct WorkSlotOwnerTests {
    @Test("SLT-8: work nobody waits for fails: reported once")
    func failsUnheard() async throws {
        try await simulate { world in
            let slot = WorkSlot<Int>("save")
            #expect(slot.start(.keep) { throw OwnError() })
            try await world.clock.advance(by: .seconds(1))
            #expect(!slot.isTaken)
            #expect(world.events.names == ["slot.failed"])
            #expect(world.events.events[0].fields[0] == .init("label", "save"))
        }
    }

    @Test("SLT-9: a closed slot refuses, closing twice is closing once")
    func closed() async throws {
        try await simulate { world in
            let slot = WorkSlot<Int>("save")
            await slot.close()
            await slot.close()
            let late = await outcome { try await slot.run(.replace) { 1 } }
            #expect(late == .rejected(.shuttingDown))
            #expect(!slot.start(.join) { 1 })
            #expect(world.events.names == ["slot.refused", "slot.refused"])
            #expect(world.events.events[0].fields[1] == .init("reason", "closed"))
        }
    }

    @Test("SLT-10: nobody holds the slot any more: its work is cancelled")
    func dropped() async throws {
        try await simulate { world in
            let cause = Mutex<CancellationCause?>(nil)
            var slot: WorkSlot<Int>? = WorkSlot("save")
            slot?.start(.keep) {
                do { try await workPolitely(.seconds(60)) } catch {
                    cause.withLock { $0 = Cancellation.cause }
                }
                return 1
            }
            try await world.clock.advance(by: .seconds(1))
            slot = nil
            try await world.clock.advance(by: .seconds(1))
            #expect(cause.withLock { $0 } == .scopeClosed)
            #expect(world.clock.sleeperCount == 0)
            #expect(world.events.names == ["slot.closed"])
        }
    }

    @Test("SLT-11: the work fails: its error for all who wait, as failed, silent as they hear it")
    func fails() async throws {
        try await simulate { world in
            let slot = WorkSlot<Int>("save")
            let callers = (0..<2).map { _ in
                spawn {
                    await outcome {
                        try await slot.run(.join) {
                            try await workPolitely(.seconds(1))
                            throw OwnError()
                        }
                    }
                }
            }
            for caller in callers { #expect(await caller.value == .failed(OwnError())) }
            #expect(world.events.names == ["slot.joined"])
        }
    }

    @Test("SLT-12: replaced work throws its own error: reported, as its caller has gone on")
    func replacedFails() async throws {
        try await simulate { world in
            let slot = WorkSlot<Int>("save")
            let old = spawn {
                await outcome {
                    try await slot.run(.replace) {
                        do { try await workPolitely(.seconds(60)) } catch { throw OwnError() }
                        return 1
                    }
                }
            }
            try await world.clock.advance(by: .seconds(1))
            #expect(try await slot.run(.replace) { 2 } == 2)
            #expect(await old.value == .cancelled)
            #expect(world.events.names == ["slot.replaced", "slot.failed"])
        }
    }

    @Test("SLT-13: the caller's deadline is not the work's, its cancellation only leaves")
    func ownDeadline() async throws {
        try await simulate { world in
            let slot = WorkSlot<Int>("save")
            let hadDeadline = Mutex(true)
            slot.start(.keep) {
                try await workPolitely(.seconds(10))
                return 1
            }
            let value = await outcome {
                try await withTimeout(.seconds(2)) {
                    try await slot.run(.join) { 2 }
                }
            }
            #expect(value == .failed(DeadlineExceeded(limit: .seconds(2))))
            await withDeadline(.in(.seconds(60))) {
                await slot.close()
                let other = WorkSlot<Int>("other")
                _ = await outcome {
                    try await other.run(.keep) {
                        hadDeadline.withLock { $0 = Deadline.current != nil }
                        return 3
                    }
                }
            }
            #expect(!hadDeadline.withLock { $0 })
            #expect(world.events.names == ["slot.joined", "deadline.expired", "slot.closed"])
        }
    }

    @Test("SLT-14: any mix of callers, cancellations and a close: one at a time, nothing left")
    func anyMix() async throws {
        try await explore(seeds: 51) { world in
            let seed = world.seed
            // Where timers overtake, a bound may pass before work had a chance to end.
            let bound = world.isPunctual ? Duration.seconds(2) : .century
            let slot = WorkSlot<Int>("mix", endingWithin: bound)
            let atWork = Mutex(0)
            var random = RandomSource.seeded(seed)
            var callers: [Task<Outcome, Never>] = []
            let policies: [WorkSlot<Int>.Policy] = [.replace, .keep, .join]
            for number in 0..<8 {
                let policy = policies[Int.random(in: 0..<3, using: &random)]
                let time = Duration.milliseconds(Int.random(in: 0...900, using: &random))
                callers.append(
                    spawn {
                        await outcome {
                            try await slot.run(policy) {
                                let count = atWork.withLock { count in
                                    count += 1
                                    return count
                                }
                                defer { atWork.withLock { $0 -= 1 } }
                                #expect(count == 1, "seed \(seed)")
                                await workStubbornly(time)
                                return number
                            }
                        }
                    })
                let pause = Duration.milliseconds(Int.random(in: 0...300, using: &random))
                try await world.clock.advance(by: pause)
                if Bool.random(using: &random) {
                    callers.randomElement(using: &random)?.cancel()
                }
            }
            await slot.close()
            for caller in callers { _ = await caller.value }
            #expect(!slot.isTaken, "seed \(seed)")
            #expect(atWork.withLock { $0 } == 0, "seed \(seed)")
            #expect(AbandonedWork.inProcess == 0, "seed \(seed)")
            #expect(world.clock.sleeperCount == 0, "seed \(seed)")
        }
    }
}
