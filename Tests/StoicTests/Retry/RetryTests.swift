import StoicTesting
import Synchronization
import Testing

@testable import Stoic

struct Trouble: Error, Equatable { var number = 0 }
struct Blunder: Defect, Equatable {}

@Suite("retry", .timeLimit(.minutes(20)))
struct RetryTests {
    private static let plain = Schedule.spaced(.seconds(1))

    @Test("RET-1: the value of the attempt that succeeds, after one scheduled retry less")
    func succeeds() async throws {
        for count in 1...5 {
            try await simulate { world in
                let value = try await retry(Self.plain, attempts: 5) { attempt in
                    #expect(attempt.elapsed == .seconds(attempt.number - 1))
                    #expect(attempt.isFirst == (attempt.number == 1) && attempt.limit == 5)
                    if attempt.number < count { throw Trouble(number: attempt.number) }
                    return attempt.number
                }
                #expect(value == count)
                let expected =
                    (1..<count).flatMap { _ in ["retry.attemptFailed", "retry.scheduled"] }
                    + (count > 1 ? ["retry.succeeded"] : [])
                #expect(world.events.names == expected)
                #expect(
                    RetryBudget.ambientDefault.remaining
                        == (count < 2 ? 500 : 500 - 5 * (count - 2)))
            }
        }
    }

    @Test("RET-2: the last error when all attempts fail")
    func allFail() async throws {
        try await simulate { world in
            await #expect(throws: Trouble(number: 3)) {
                try await retry { attempt in throw Trouble(number: attempt.number) }
            }
            #expect(world.events.names.last == "retry.gaveUp")
            #expect(world.events.events.last?.field("reason") == .text("exhausted"))
            #expect(world.events.names.count { $0 == "retry.scheduled" } == 2)
        }
    }

    @Test("RET-3: an error that is not worth it, or a defect, has one attempt")
    func classified() async throws {
        try await simulate { world in
            let runs = Mutex(0)
            let errors: [any Error] = [
                Trouble(), Blunder(),
                PolicyError<Trouble>.rejected(.breakerOpen(retryAfter: .zero)),
                PolicyError<Trouble>.rejected(.shuttingDown),
                PolicyError<Trouble>.rejected(.deadlinePassed),
                ConcurrentFailure<any Error>(Trouble(), [Blunder()]),
            ]
            for error in errors {
                await #expect(throws: (any Error).self) {
                    try await retry(when: { $0 is Trouble ? .giveUp : Classifier.default($0) }) {
                        _ in
                        runs.withLock { $0 += 1 }
                        throw error
                    }
                }
            }
            #expect(runs.withLock { $0 } == errors.count)
            let ends = world.events.events.filter { $0.name == .retryGaveUp }
            let reasons = [
                "classified", "defect", "classified", "classified", "classified", "defect",
            ]
            #expect(ends.map { $0.field("reason") } == reasons.map { .text($0) })
            #expect(ends.map(\.level) == [.notice, .error, .notice, .notice, .notice, .error])
        }
    }

    @Test("RET-3: no rule of a caller makes a defect or a cancellation worth another attempt")
    func never() async throws {
        try await simulate { _ in
            for error in [Blunder(), CancellationError()] as [any Error] {
                let runs = Mutex(0)
                await #expect(throws: (any Error).self) {
                    try await retry(when: { _ in .retry }) { _ in
                        runs.withLock { $0 += 1 }
                        throw error
                    }
                }
                #expect(runs.withLock { $0 } == 1)
            }
        }
    }

    @Test("RET-4: cancelled during backoff, it ends at once and pays nothing")
    func cancelledInBackoff() async throws {
        try await explore(seeds: 67, under: SimulatedOrder.punctual) { world in
            let budget = RetryBudget()
            let task = spawn { () async -> (any Error)? in
                do {
                    try await retry(.spaced(.seconds(60)), budget: budget) { _ in
                        throw Trouble()
                    }
                    return nil
                } catch { return error }
            }
            try await world.clock.sleep(for: .seconds(30))
            #expect(budget.remaining == 495)
            task.cancel()
            #expect(await task.value is CancellationError)
            #expect(world.clock.now.sinceOrigin == .seconds(30))
            #expect(budget.remaining == 500)
            #expect(
                world.events.names == [
                    "retry.attemptFailed", "retry.scheduled", "retry.gaveUp",
                ])
            #expect(world.events.events.last?.level == .debug)
        }
    }

    @Test("RET-4: where the error type cannot hold a cancellation, the last attempt's error")
    func cancelledTyped() async throws {
        try await simulate { world in
            let task = spawn { () async -> Trouble? in
                let attempt = { (_: Attempt) async throws(Trouble) in throw Trouble(number: 7) }
                do throws(Trouble) {
                    try await retry(.spaced(.seconds(60)), operation: attempt)
                    return nil
                } catch { return error }
            }
            try await world.clock.sleep(for: .seconds(30))
            task.cancel()
            #expect(await task.value == Trouble(number: 7))
        }
    }

    @Test("RET-5: an attempt that its own timeout cuts is tried again, at the higher price")
    func attemptTimeout() async throws {
        try await simulate { world in
            let value = try await retry(Self.plain, attemptTimeout: .seconds(2)) { attempt in
                if attempt.isFirst { try await world.clock.sleep(for: .seconds(9)) }
                #expect(Deadline.current?.remaining == .seconds(2))
                return attempt.number
            }
            #expect(value == 2)
            #expect(world.clock.now.sinceOrigin == .seconds(3))
            #expect(
                world.events.names == [
                    "deadline.expired", "retry.attemptFailed", "retry.scheduled", "retry.succeeded",
                ])
            #expect(world.events.events[1].field("timedOut") == .flag(true))
            let budget = RetryBudget()
            await #expect(throws: DeadlineExceeded(limit: .seconds(2))) {
                try await retry(
                    Self.plain, attempts: 2, budget: budget, attemptTimeout: .seconds(2),
                    when: { _ in .giveUp }
                ) { _ in try await world.clock.sleep(for: .seconds(9)) }
            }
            #expect(budget.remaining == 490)
        }
    }

    @Test("RET-5: a caller that cancels first is no timeout")
    func cancelledAttempt() async throws {
        try await explore(seeds: 67, under: SimulatedOrder.punctual) { world in
            let seed = world.seed
            let runs = Mutex(0)
            let task = spawn { () async -> (any Error)? in
                do {
                    try await retry(.immediate, attemptTimeout: .seconds(5)) { _ in
                        runs.withLock { $0 += 1 }
                        try await world.clock.sleep(for: .seconds(9))
                    }
                    return nil
                } catch { return error }
            }
            try await world.clock.sleep(for: .seconds(seed % 2 == 0 ? 4 : 5))
            task.cancel()
            #expect(await task.value is CancellationError)
            #expect(runs.withLock { $0 } <= 2)
            #expect(!world.events.names.contains("retry.succeeded"))
        }
    }

    @Test("RET-6: a cancellation of the operation's own is not tried again")
    func ownCancellation() async throws {
        try await simulate { world in
            await #expect(throws: CancellationError.self) {
                try await retry { _ in throw CancellationError() }
            }
            #expect(world.events.names == ["retry.gaveUp"])
            #expect(world.events.events.last?.level == .debug)
        }
    }
}

extension Event {
    /// The value of a detail.
    func field(_ key: String) -> Value? { fields.first { $0.key == key }?.value }
}
