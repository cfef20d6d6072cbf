import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("Deadlines at the edges", .timeLimit(.minutes(5)))
struct DeadlineEdgeTests {
    @MainActor @Test("DL-8: the operation blocks its actor: the deadline passes all the same")
    func blocksItsActor() async {
        let isCancelled = Atomic<Bool>(false)
        let recorder = EventRecorder()
        await withAmbient {
            $0.instrumentation = recorder
        } operation: {
            await withDeadline(.in(.milliseconds(50), clock: .continuous)) {
                await Task.yield()
                await withTaskCancellationHandler {
                    MainActor.assertIsolated()
                    let clock = ContinuousClock()
                    let limit = clock.now.advanced(by: .seconds(20))
                    while !isCancelled.load(ordering: .relaxed), clock.now < limit {}
                } onCancel: {
                    isCancelled.store(true, ordering: .relaxed)
                }
            }
        }
        let wasCancelled = isCancelled.load(ordering: .relaxed)
        #expect(wasCancelled)
        #expect(recorder.names.first == "deadline.expired")
    }

    @Test("DL-9: the machine sleeps through the deadline: it has passed on waking")
    func sleepsThrough() async throws {
        try await simulate { world in
            let clock = JumpingClock(world.clock)
            let erased = AnyClock(clock)
            let result = await withAmbient {
                $0.clock = erased
            } operation: {
                await outcome {
                    try await withTimeout(.seconds(5)) {
                        let sleep = spawn {
                            await workStubbornly(.milliseconds(500))
                            clock.jump(by: .seconds(3_600))
                        }
                        defer { sleep.cancel() }
                        try await workPolitely(.seconds(10_000))
                        return 7
                    }
                }
            }
            #expect(result == .exceeded(DeadlineExceeded(limit: .seconds(5))))
            #expect(world.clock.now.sinceOrigin <= .seconds(2))
            // The work ended as soon as it was told to: that is no overrun.
            #expect(world.events.names == ["deadline.expired"])
        }
    }

    @Test(
        "DL-12: zero and negative have passed; withDeadline runs cancelled, withTimeout not at all")
    func passed() async throws {
        for limit: Duration in [.zero, .seconds(-5), .seconds(Int64.min)] {
            try await simulate { world in
                let seen = await withDeadline(.in(limit)) { (Task.isCancelled, Cancellation.cause) }
                #expect(seen.0)
                #expect(seen.1 == .deadlineExpired)
                #expect(world.events.names == ["deadline.expired", "deadline.metLate"])
                let result = await outcome {
                    try await withTimeout(limit) {
                        Issue.record("it ran")
                        return 7
                    }
                }
                #expect(result == .rejected(.deadlinePassed))
                let abandoning = await outcome {
                    try await withAbandoningDeadline(.in(limit), label: "never") {
                        Issue.record("it ran")
                        return 7
                    }
                }
                #expect(abandoning == .rejected(.deadlinePassed))
                #expect(
                    world.events.names.dropFirst(2) == ["deadline.refused", "deadline.refused"])
            }
        }
    }

    @Test("DL-12: a century, and more than a century, is no trap")
    func century() async throws {
        for limit: Duration in [.century, .seconds(Int64.max)] {
            try await simulate { world in
                let value = try await withTimeout(limit) {
                    try await workPolitely(.seconds(1_000_000))
                    return 7
                }
                #expect(value == 7)
                #expect(world.clock.sleeperCount == 0)
                #expect(world.events.names == [])
            }
        }
    }

    @Test("DL-13: the operation never gives up its thread: nobody cancels it, and it is reported")
    func neverSuspends() async throws {
        try await simulate { world in
            let clock = JumpingClock(world.clock)
            let deadline = Deadline.in(.seconds(5), clock: AnyClock(clock))
            let wasCancelled = await withDeadline(deadline) {
                clock.jump(by: .seconds(8))
                return Task.isCancelled
            }
            #expect(!wasCancelled)
            #expect(world.events.names == ["deadline.overrun", "deadline.metLate"])
            #expect(world.events.events[0].fields[0] == .init("by", .seconds(3)))
        }
    }

    @Test("DL-14: withTimeout: a late value is returned, an own error is failed, each by its kind")
    func timeoutResults() async throws {
        try await simulate { world in
            let late = await outcome {
                try await withTimeout(.seconds(5)) {
                    await workStubbornly(.seconds(6))
                    return 7
                }
            }
            #expect(late == .value(7))
            #expect(
                world.events.names == ["deadline.expired", "deadline.overrun", "deadline.metLate"])
            let own = await outcome {
                try await withTimeout(.seconds(5)) {
                    do { try await workPolitely(.seconds(6)) } catch { throw OwnError() }
                    return 7
                }
            }
            #expect(own == .failed(OwnError()))
            let uncaused = await outcome {
                try await withTimeout(.seconds(5)) { throw CancellationError() }
            }
            #expect(uncaused == .cancelled)
            let typed = await #expect(throws: PolicyError<OwnError>.self) {
                try await withTimeout(.seconds(5)) { () async throws(OwnError) in
                    throw OwnError()
                }
            }
            #expect(typed == .failed(OwnError()))
            #expect(world.events.names.dropFirst(3) == ["deadline.expired"])
        }
    }

    @Test("DL-15: what is a PolicyError already passes as it is, however it is spelled")
    func flattens() async throws {
        try await simulate { world in
            let refused = PolicyError<OwnError>.rejected(.bulkheadFull)
            func named() async throws(PolicyError<OwnError>) -> Int { throw refused }
            let plain = await #expect(throws: PolicyError<OwnError>.self) {
                try await withTimeout(.seconds(5)) { throw refused }
            }
            let byName = await #expect(throws: PolicyError<OwnError>.self) {
                try await withTimeout(.seconds(5), operation: named)
            }
            let annotated = await #expect(throws: PolicyError<OwnError>.self) {
                try await withTimeout(.seconds(5)) { () async throws(PolicyError<OwnError>) in
                    throw refused
                }
            }
            #expect(plain == refused && byName == refused && annotated == refused)
            #expect(world.events.names == [])
            // What this policy refuses by itself has one layer too.
            let own = await #expect(throws: PolicyError<OwnError>.self) {
                try await withTimeout(.zero, operation: named)
            }
            #expect(own == .rejected(.deadlinePassed))
        }
    }

    @MainActor @Test("the operation stays on the caller's actor, with what is not Sendable")
    func isolation() async throws {
        final class Counter { var count = 0 }
        let counter = Counter()
        try await withTimeout(.seconds(60)) {
            MainActor.assertIsolated()
            counter.count += 1
            await Task.yield()
            MainActor.assertIsolated()
            counter.count += 1
        }
        let same = await withDeadline(.in(.seconds(60))) { counter }
        #expect(same.count == 2)
    }
}

/// A test's clock that jumps, as a clock does that goes on while the machine sleeps: who sleeps
/// finds out at its next look, a second later at most.
final class JumpingClock: Clock {
    private let base: TestClock
    private let jumped = Mutex(Duration.zero)

    init(_ base: TestClock) { self.base = base }

    func jump(by duration: Duration) { jumped.withLock { $0 += duration } }

    var now: TestClock.Instant { base.now.advanced(by: jumped.withLock { $0 }) }
    var minimumResolution: Duration { base.minimumResolution }

    func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {
        while now < deadline {
            try await base.sleep(for: min(now.duration(to: deadline), .seconds(1)))
        }
    }
}
