import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("Deadlines that meet", .timeLimit(.minutes(20)))
struct DeadlineNestingTests {
    @Test("DL-5: the outer deadline is earlier: it governs, and both causes say so")
    func outerGoverns() async throws {
        try await simulate { world in
            let causes = Mutex<[CancellationCause?]>([])
            let result = await outcome {
                try await withTimeout(.seconds(5)) {
                    defer { causes.withLock { $0.append(Cancellation.cause) } }
                    return try await withTimeout(.seconds(60)) {
                        defer { causes.withLock { $0.append(Cancellation.cause) } }
                        try await workPolitely(.seconds(100))
                        return 7
                    }
                }
            }
            // The inner one did not expire, so what it passes on is a cancellation.
            #expect(result == .exceeded(DeadlineExceeded(limit: .seconds(5))))
            #expect(causes.withLock { $0 } == [.deadlineExpired, .deadlineExpired])
            #expect(world.clock.now.sinceOrigin == .seconds(5))
            #expect(world.clock.sleeperCount == 0)
            #expect(world.events.names == ["deadline.expired"])
            #expect(world.events.events[0].fields == [.init("limit", .seconds(5))])
        }
    }

    @Test("DL-5: the inner deadline is earlier: it alone has passed")
    func innerGoverns() async throws {
        try await simulate { world in
            let result = await outcome {
                try await withTimeout(.seconds(60)) {
                    try await withTimeout(.seconds(5)) {
                        try await workPolitely(.seconds(100))
                        return 7
                    }
                }
            }
            #expect(result == .exceeded(DeadlineExceeded(limit: .seconds(5))))
            #expect(world.events.names == ["deadline.expired"])
        }
    }

    @Test("DL-20: work waits for its cancellation: it hears the cause, at once if it was before")
    func waitsForCancellation() async throws {
        try await simulate { world in
            let cause = await withDeadline(.in(.seconds(5))) { await Cancellation.wait() }
            #expect(cause == .deadlineExpired)
            #expect(world.clock.now.sinceOrigin == .seconds(5))
            let box = Mutex<CancellationCause?>(nil)
            let task = spawn {
                await workStubbornly(.seconds(1))
                let cause = await Cancellation.wait()
                box.withLock { $0 = cause }
            }
            task.cancel()
            await task.value
            #expect(box.withLock { $0 } == .requested)
            // Silent of itself: the deadline reports what it did.
            #expect(world.events.names.allSatisfy { $0.hasPrefix("deadline.") })
        }
    }

    @Test("DL-6: the caller cancels first: the cause is the request, silent as no deadline passed")
    func callerFirst() async throws {
        try await simulate { world in
            let cause = Mutex<CancellationCause?>(nil)
            let call = spawn {
                await outcome {
                    try await withTimeout(.seconds(5)) {
                        defer { cause.withLock { $0 = Cancellation.cause } }
                        try await workPolitely(.seconds(100))
                        return 7
                    }
                }
            }
            try await world.clock.advance(by: .seconds(1))
            call.cancel()
            #expect(await call.value == .cancelled)
            #expect(cause.withLock { $0 } == .requested)
            #expect(world.clock.sleeperCount == 0)
            #expect(world.events.names == [])
        }
    }

    @Test("DL-7: the caller and the timer at the same moment: one cause, and it decides")
    func together() async throws {
        let seen = Mutex<Set<CancellationCause>>([])
        try await explore(seeds: 67, under: SimulatedOrder.punctual) { world in
            let seed = world.seed
            let cause = Mutex<CancellationCause?>(nil)
            let call = spawn {
                await outcome {
                    try await withTimeout(.seconds(5)) {
                        defer { cause.withLock { $0 = Cancellation.cause } }
                        try await workPolitely(.seconds(100))
                        return 7
                    }
                }
            }
            let canceller = spawn {
                await Task.yield()
                await workStubbornly(.seconds(5))
                call.cancel()
            }
            let result = await call.value
            await canceller.value
            let first = cause.withLock { $0 }
            let names = world.events.names
            if first == .deadlineExpired {
                #expect(result == .exceeded(DeadlineExceeded(limit: .seconds(5))))
                #expect(names == ["deadline.expired"], "seed \(seed)")
            } else {
                #expect(result == .cancelled, "seed \(seed)")
                #expect(names == [], "seed \(seed)")
            }
            if let first { seen.withLock { _ = $0.insert(first) } }
        }
        #expect(seen.withLock { $0 } == [.deadlineExpired, .requested])
    }

    @Test("DL-16: Deadline.current is the earliest on one clock; a shield has none")
    func current() async throws {
        try await simulate { world in
            #expect(Deadline.current == nil)
            await withDeadline(.in(.seconds(5))) {
                #expect(Deadline.current?.remaining == .seconds(5))
                await withDeadline(.in(.seconds(60))) {
                    #expect(Deadline.current?.remaining == .seconds(5))
                }
                await withDeadline(.in(.seconds(3))) {
                    #expect(Deadline.current?.remaining == .seconds(3))
                    await shielded { #expect(Deadline.current == nil) }
                }
                let other = AnyClock(TestClock())
                await withDeadline(.in(.seconds(9), clock: other)) {
                    #expect(Deadline.current?.remaining == .seconds(9))
                }
                await withTaskGroup { group in
                    group.addTask { #expect(Deadline.current?.remaining == .seconds(5)) }
                }
            }
            #expect(Deadline.current == nil)
            #expect(world.events.names == [])
        }
    }
}
