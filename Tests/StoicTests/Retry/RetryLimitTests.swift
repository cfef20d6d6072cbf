import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("retry, what bounds it", .timeLimit(.minutes(20)))
struct RetryLimitTests {
    private static func fails(_ world: SimulatedWorld, reason: String) {
        #expect(world.events.events.last?.name == .retryGaveUp)
        #expect(world.events.events.last?.field("reason") == .text(reason))
        #expect(world.clock.now.sinceOrigin == .zero)
    }

    @Test("RET-7: a delay that reaches the deadline is not waited for")
    func deadline() async throws {
        try await simulate { world in
            await #expect(throws: Trouble()) {
                try await withDeadline(.in(.seconds(5))) {
                    try await retry(.spaced(.seconds(5))) { _ in throw Trouble() }
                }
            }
            Self.fails(world, reason: "deadline")
            #expect(RetryBudget.ambientDefault.remaining == 500)
        }
    }

    @Test("RET-8: an empty budget ends it without a wait")
    func emptyBudget() async throws {
        try await simulate { world in
            let budget = RetryBudget(.init(capacity: 4))
            await #expect(throws: Trouble()) {
                try await retry(budget: budget) { _ in throw Trouble() }
            }
            Self.fails(world, reason: "budget")
            #expect(
                world.events.names == ["retry.attemptFailed", "budget.exhausted", "retry.gaveUp"])
            #expect(budget.remaining == 4)
        }
    }

    @Test("RET-9: a thousand callers that fail together retry no more than the budget holds")
    func cohort() async throws {
        try await explore(seeds: 2) { world in
            let runs = Mutex(0)
            let tasks = (0..<1_000).map { _ in
                spawn {
                    do {
                        try await retry { _ in
                            runs.withLock { $0 += 1 }
                            throw Trouble()
                        }
                    } catch { return }
                }
            }
            for task in tasks { await task.value }
            #expect(runs.withLock { $0 } == 1_100)
            #expect(world.events.names.count { $0 == "budget.exhausted" } == 1)
            #expect(RetryBudget.ambientDefault.remaining == 0)
        }
    }

    @Test("RET-10: a delay that was asked for is cut to the longest, and still obeys the deadline")
    func retryAfter() async throws {
        try await simulate { world in
            await #expect(throws: Trouble()) {
                try await withDeadline(.in(.seconds(30))) {
                    try await retry(when: { _ in .retryAfter(.seconds(3_600)) }) { _ in
                        throw Trouble()
                    }
                }
            }
            Self.fails(world, reason: "deadline")
            await #expect(throws: Trouble()) {
                try await retry(
                    attempts: 2, longestRetryAfter: .seconds(60),
                    when: { _ in .retryAfter(.seconds(Int64.max)) }
                ) { _ in throw Trouble() }
            }
            #expect(world.clock.now.sinceOrigin == .seconds(60))
        }
    }

    @Test("RET-11: a retry in a retry tells how often the two multiply")
    func nested() async throws {
        try await simulate { world in
            let runs = Mutex(0)
            await #expect(throws: Trouble()) {
                try await retry(.immediate) { _ in
                    try await retry(.immediate) { _ in
                        runs.withLock { $0 += 1 }
                        throw Trouble()
                    }
                }
            }
            #expect(runs.withLock { $0 } == 9)
            let nested = world.events.events.filter { $0.name == .retryNested }
            #expect(nested.count == 3)
            #expect(nested.first?.level == .notice)
            #expect(nested.first?.field("amplification") == .text("3×3"))
            #expect(nested.first?.field("attempts") == .integer(9))
        }
    }

    @MainActor @Test("RET-12: every attempt is on the caller's actor, also under a timeout")
    func actor() async throws {
        var count = 0
        let recorder = EventRecorder()
        for limit in [nil, Duration.seconds(3_600)] {
            await withAmbient {
                $0.instrumentation = recorder
            } operation: {
                do {
                    try await retry(.immediate, budget: nil, attemptTimeout: limit) { _ in
                        MainActor.assertIsolated()
                        count += 1
                        await Task.yield()
                        MainActor.assertIsolated()
                        throw Trouble()
                    }
                } catch { #expect(error is Trouble) }
            }
        }
        #expect(count == 6)
        let again = ["retry.attemptFailed", "retry.scheduled"]
        let all = again + again + ["retry.attemptFailed", "retry.gaveUp"]
        #expect(recorder.names == all + all)
    }

    @Test("RET-13: a schedule that is done ends it before the attempts do")
    func scheduleDone() async throws {
        try await simulate { world in
            for schedule in [
                Schedule.never, .exponential().within(.zero), .spaced(.zero).limited(to: 0),
            ] {
                await #expect(throws: Trouble(number: 1)) {
                    try await retry(schedule, attempts: 9) { throw Trouble(number: $0.number) }
                }
                Self.fails(world, reason: "schedule")
            }
        }
    }

    @Test("RET-14: a cancelled caller still has its first attempt, which sees it, and no second")
    func cancelledBefore() async throws {
        try await simulate { world in
            let runs = Mutex(0)
            let task = spawn { () async -> (any Error)? in
                cancelCurrentTask()
                do {
                    try await retry { _ in
                        #expect(Task.isCancelled)
                        runs.withLock { $0 += 1 }
                        throw Trouble()
                    }
                    return nil
                } catch { return error }
            }
            #expect(await task.value is CancellationError)
            #expect(runs.withLock { $0 } == 1)
            #expect(world.events.names == ["retry.gaveUp"])
        }
    }

    @Test("RET-15: one seed gives the same delays to each caller of a site, whatever the order")
    func sameSite() async throws {
        try await explore(seeds: 51) { world in
            let tasks = (0..<3).map { _ in
                spawn {
                    do { try await retry { _ in throw Trouble() } } catch { return }
                }
            }
            for task in tasks { await task.value }
            let delays = world.events.events.filter { $0.name == .retryScheduled }
                .map { ($0.field("attempt"), $0.field("delay")) }
            for number in [2, 3] {
                let same = delays.filter { $0.0 == .integer(number) }.map(\.1)
                #expect(same.count == 3 && Set(same).count == 1)
            }
        }
    }

    @Test("RET-19: a defect is reported, also when its caller is cancelled")
    func cancelledDefect() async throws {
        try await simulate { world in
            let task = spawn {
                cancelCurrentTask()
                return await failure { try await retry { _ in throw Blunder() } }
            }
            #expect(await task.value is CancellationError)
            #expect(world.events.names == ["retry.gaveUp"])
            #expect(world.events.events.first?.field("reason") == .text("defect"))
            #expect(world.events.events.first?.level == .error)
        }
    }
}
