import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("WorkSlot", .timeLimit(.minutes(20)))
struct WorkSlotTests {
    @Test("SLT-1: replaced work is cancelled, and the new work begins after its end")
    func replaces() async throws {
        try await simulate { world in
            let slot = WorkSlot<Int>("search")
            let cause = Mutex<CancellationCause?>(nil)
            let oldEnded = Mutex<Duration?>(nil)
            let old = spawn {
                await outcome {
                    try await slot.run(.replace) {
                        do { try await workPolitely(.seconds(60)) } catch {
                            cause.withLock { $0 = Cancellation.cause }
                            await workStubbornly(.seconds(2))
                            oldEnded.withLock { $0 = world.clock.now.sinceOrigin }
                        }
                        return 1
                    }
                }
            }
            try await world.clock.advance(by: .seconds(1))
            let value = try await slot.run(.replace) {
                #expect(oldEnded.withLock { $0 } == .seconds(3))
                return 2
            }
            #expect(value == 2)
            #expect(await old.value == .cancelled)
            #expect(cause.withLock { $0 } == .replaced)
            #expect(!slot.isTaken)
            #expect(world.events.names == ["slot.replaced"])
        }
    }

    @Test("SLT-2: replaced work ignores its cancellation: left behind after the bound")
    func ignores() async throws {
        try await simulate { world in
            let slot = WorkSlot<Int>("search", endingWithin: .seconds(5))
            slot.start(.replace) {
                await workStubbornly(.seconds(60))
                throw OwnError()
            }
            try await world.clock.advance(by: .seconds(1))
            let value = try await slot.run(.replace) { 2 }
            #expect(value == 2)
            #expect(world.clock.now.sinceOrigin == .seconds(6))
            #expect(AbandonedWork.inProcess == 1)
            try await world.clock.advance(by: .seconds(60))
            #expect(AbandonedWork.inProcess == 0)
            #expect(
                world.events.names == [
                    "slot.replaced", "deadline.abandoned", "deadline.abandonedReturned",
                ])
            #expect(world.events.events[2].fields.map(\.key) == ["label", "after", "error"])
        }
    }

    @Test("SLT-3: many replace at once: never two at work, the newest runs, the others hear of it")
    func replacesAtOnce() async throws {
        try await explore(seeds: 51) { world in
            let seed = world.seed
            let slot = WorkSlot<Int>("search", endingWithin: .century)
            let atWork = Mutex(0)
            let callers = (0..<4).map { number in
                spawn {
                    await outcome {
                        try await slot.run(.replace) {
                            let others = atWork.withLock { count in
                                count += 1
                                return count - 1
                            }
                            defer { atWork.withLock { $0 -= 1 } }
                            #expect(others == 0, "seed \(seed)")
                            try await workPolitely(.seconds(1))
                            return number
                        }
                    }
                }
            }
            var values: [Int] = []
            var cancelled = 0
            for caller in callers {
                switch await caller.value {
                case .value(let number): values.append(number)
                case .cancelled: cancelled += 1
                case .rejected, .failed, .exceeded, .other: Issue.record("seed \(seed)")
                }
            }
            // A caller that is late finds the work of another done.
            #expect(values.count >= 1 && values.count + cancelled == 4, "seed \(seed)")
            #expect(values.count == 1 || !world.isPunctual, "seed \(seed)")
            #expect(!slot.isTaken)
            let names = world.events.names
            let isRight = names.allSatisfy { $0 == "slot.replaced" || $0 == "slot.superseded" }
            #expect(names.count == cancelled && isRight, "seed \(seed): \(names)")
        }
    }

    @Test("SLT-4: the owner ends during a replacement: the new work never begins, nothing is left")
    func closesDuringReplacement() async throws {
        try await simulate { world in
            let slot = WorkSlot<Int>("search")
            slot.start(.replace) {
                await workStubbornly(.seconds(3))
                return 1
            }
            let next = spawn {
                await outcome {
                    try await slot.run(.replace) {
                        Issue.record("it ran")
                        return 2
                    }
                }
            }
            try await world.clock.advance(by: .seconds(1))
            await slot.close()
            #expect(world.clock.now.sinceOrigin == .seconds(3))
            #expect(await next.value == .cancelled)
            #expect(!slot.isTaken)
            #expect(world.events.names == ["slot.replaced", "slot.closed"])
        }
    }

    @Test("SLT-5: keep: new work is refused while the slot is taken")
    func keeps() async throws {
        try await simulate { world in
            let slot = WorkSlot<Int>("search")
            let first = spawn {
                await outcome {
                    try await slot.run(.keep) {
                        try await workPolitely(.seconds(5))
                        return 1
                    }
                }
            }
            try await world.clock.advance(by: .seconds(1))
            let second = await outcome { try await slot.run(.keep) { 2 } }
            #expect(second == .rejected(.bulkheadFull))
            #expect(await first.value == .value(1))
            #expect(try await slot.run(.keep) { 3 } == 3)
            #expect(world.events.names == ["slot.refused"])
        }
    }

    @Test("SLT-6: join: one piece of work, its value for all, and each leaves alone")
    func joins() async throws {
        try await simulate { world in
            let slot = WorkSlot<Int>("refresh")
            let runs = Mutex(0)
            let callers = (0..<3).map { _ in
                spawn {
                    await outcome {
                        try await slot.run(.join) {
                            runs.withLock { $0 += 1 }
                            try await workPolitely(.seconds(5))
                            return 7
                        }
                    }
                }
            }
            try await world.clock.advance(by: .seconds(1))
            callers[0].cancel()
            #expect(await callers[0].value == .cancelled)
            #expect(world.clock.now.sinceOrigin == .seconds(1))
            #expect(await callers[1].value == .value(7))
            #expect(await callers[2].value == .value(7))
            #expect(runs.withLock { $0 } == 1)
            #expect(world.events.names == ["slot.joined", "slot.joined"])
        }
    }

    @Test("SLT-7: the last caller leaves: the work is cancelled, and newer work waits for its end")
    func deserted() async throws {
        try await simulate { world in
            let slot = WorkSlot<Int>("refresh")
            let cause = Mutex<CancellationCause?>(nil)
            let caller = spawn {
                await outcome {
                    try await slot.run(.join) {
                        do { try await workPolitely(.seconds(60)) } catch {
                            cause.withLock { $0 = Cancellation.cause }
                            await workStubbornly(.seconds(2))
                        }
                        return 1
                    }
                }
            }
            try await world.clock.advance(by: .seconds(1))
            caller.cancel()
            #expect(await caller.value == .cancelled)
            #expect(slot.isTaken)
            #expect(try await slot.run(.join) { 2 } == 2)
            #expect(world.clock.now.sinceOrigin == .seconds(3))
            #expect(cause.withLock { $0 } == .requested)
            #expect(world.events.names == ["slot.deserted"])
        }
    }
}
