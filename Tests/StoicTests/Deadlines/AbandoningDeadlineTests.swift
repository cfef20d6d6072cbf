import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("withAbandoningDeadline", .timeLimit(.minutes(20)))
struct AbandoningDeadlineTests {
    @Test("DL-10: work that was left behind returns later, or throws later")
    func returnsLater() async throws {
        for fails in [false, true] {
            try await simulate { world in
                let owner = AbandonedWork(inside: nil)
                var context = Context.current
                context.abandoned = owner
                try await withContext(context) {
                    await #expect(throws: PolicyError<any Error>.self) {
                        try await withAbandoningDeadline(.in(.seconds(5)), label: "mount") {
                            await workStubbornly(.seconds(20))
                            if fails { throw OwnError() }
                        }
                    }
                    #expect(world.clock.now.sinceOrigin == .seconds(6))
                    #expect(owner.count == 1)
                    #expect(world.events.names == ["deadline.expired", "deadline.abandoned"])
                    try await world.clock.advance(by: .seconds(15))
                    #expect(owner.count == 0)
                }
                #expect(world.events.names.dropFirst(2) == ["deadline.abandonedReturned"])
                let fields = world.events.events[2].fields
                #expect(fields.map(\.key) == ["label", "after"] + (fails ? ["error"] : []))
            }
        }
    }

    @Test("DL-11: with 64 left behind the next call waits, and says so")
    func saturated() async throws {
        try await simulate { world in
            try await withOwnAbandonedWork {
                for _ in 0..<AbandonedWork.cap {
                    #expect(AbandonedWork.begin(for: Context.current.abandoned))
                }
                let value = try await withAbandoningDeadline(.in(.seconds(5)), label: "mount") {
                    await workStubbornly(.seconds(20))
                    return 7
                }
                #expect(value == 7)
                #expect(AbandonedWork.inProcess == AbandonedWork.cap)
            }
            #expect(world.clock.now.sinceOrigin == .seconds(20))
            #expect(
                world.events.names == [
                    "deadline.expired", "deadline.abandonmentSaturated", "deadline.overrun",
                    "deadline.metLate",
                ])
        }
    }

    @Test("DL-17: the caller cancels, the operation ignores it: left behind after the grace")
    func callerCancels() async throws {
        try await simulate { world in
            let call = spawn {
                await outcome {
                    try await withAbandoningDeadline(.in(.seconds(60)), label: "mount") {
                        await workStubbornly(.seconds(20))
                        return 7
                    }
                }
            }
            try await world.clock.advance(by: .seconds(2))
            call.cancel()
            #expect(await call.value == .cancelled)
            #expect(world.clock.now.sinceOrigin == .seconds(3))
            #expect(AbandonedWork.inProcess == 1)
            try await world.clock.advance(by: .seconds(20))
            #expect(AbandonedWork.inProcess == 0)
            #expect(world.events.names == ["deadline.abandoned", "deadline.abandonedReturned"])
        }
    }

    @Test("DL-17: the caller was cancelled before: the operation does not run, silent")
    func callerWasCancelled() async throws {
        try await simulate { world in
            let call = spawn {
                cancelCurrentTask()
                return await outcome {
                    try await withAbandoningDeadline(.in(.seconds(60)), label: "mount") {
                        Issue.record("it ran")
                        return 7
                    }
                }
            }
            #expect(await call.value == .cancelled)
            #expect(world.events.names == [])
        }
    }

    @Test("DL-18: the operation ends within the grace: what it says counts, nothing is left")
    func endsWithinGrace() async throws {
        try await simulate { world in
            let value = await outcome {
                try await withAbandoningDeadline(.in(.seconds(5)), label: "mount") {
                    await workStubbornly(.milliseconds(5_050))
                    return 7
                }
            }
            #expect(value == .value(7))
            let polite = await outcome {
                try await withAbandoningDeadline(.in(.seconds(5)), label: "mount") {
                    try await workPolitely(.seconds(60))
                    return 7
                }
            }
            #expect(polite == .exceeded(DeadlineExceeded(limit: .seconds(5))))
            let own = await outcome {
                try await withAbandoningDeadline(.in(.seconds(5)), label: "mount") {
                    do { try await workPolitely(.seconds(60)) } catch {
                        #expect(Cancellation.cause == .deadlineExpired)
                        throw OwnError()
                    }
                    return 7
                }
            }
            #expect(own == .failed(OwnError()))
            #expect(AbandonedWork.inProcess == 0)
            #expect(
                world.events.names == [
                    "deadline.expired", "deadline.metLate", "deadline.expired", "deadline.expired",
                ])
        }
    }

    @Test("DL-18: the operation ends before the deadline: its own value or error, silent")
    func endsFirst() async throws {
        try await simulate { world in
            let value = await outcome {
                try await withAbandoningDeadline(.in(.seconds(5)), label: "mount") {
                    #expect(Deadline.current?.remaining == .seconds(5))
                    try await workPolitely(.seconds(1))
                    return 7
                }
            }
            #expect(value == .value(7))
            let own = await outcome {
                try await withAbandoningDeadline(.in(.seconds(5)), label: "mount") {
                    throw OwnError()
                }
            }
            #expect(own == .failed(OwnError()))
            #expect(world.clock.sleeperCount == 0)
            #expect(world.events.names == [])
        }
    }

    @Test("DL-19: it ends at the moment it is left behind: counted back in any order")
    func endsAtThatMoment() async throws {
        let seen = Mutex<Set<String>>([])
        try await explore(seeds: 51) { world in
            let seed = world.seed
            let result = await outcome {
                try await withAbandoningDeadline(.in(.seconds(5)), label: "mount") {
                    // Whose timer is older goes first.
                    let first = Duration.seconds(seed.isMultiple(of: 2) ? 3 : 5.5)
                    await workStubbornly(first)
                    await workStubbornly(.seconds(6) - first)
                    return 7
                }
            }
            // It may have begun late.
            try await world.clock.advance(by: .seconds(world.isPunctual ? 1 : 10))
            #expect(AbandonedWork.inProcess == 0, "seed \(seed)")
            let last = world.events.names.last
            switch result {
            case .value(7): #expect(last == "deadline.metLate", "seed \(seed)")
            case .rejected(.abandoned): #expect(last == "deadline.abandonedReturned")
            case .value, .rejected, .failed, .exceeded, .cancelled, .other:
                Issue.record("seed \(seed): \(result)")
            }
            seen.withLock { _ = $0.insert(String(describing: result)) }
        }
        #expect(seen.withLock { $0.count } == 2)
    }
}
