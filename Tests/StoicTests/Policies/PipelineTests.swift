import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("Pipeline", .timeLimit(.minutes(5)))
struct PipelineTests {
    /// A breaker that opens at the first failure.
    static func touchy(_ label: String = "db") -> CircuitBreaker {
        var settings = CircuitBreaker.Settings()
        settings.minimumCalls = 1
        return CircuitBreaker(label, settings)
    }

    @Test("PIP-2: a breaker's refusal is not retried")
    func breakerOpen() async throws {
        try await simulate { world in
            let db = Dependency()
            let breaker = Self.touchy()
            let pipeline = Pipeline().retry(attempts: 5).breaker(breaker)
            do {
                _ = try await pipeline.run(db.fail)
                Issue.record("it fails")
            } catch {
                guard case .breakerOpen? = Rejection(in: error) else {
                    Issue.record("\(error)")
                    return
                }
                #expect(error is PolicyError<Ill>)
            }
            #expect(db.calls == 1)
            let expected = [
                "breaker.opened", "retry.attemptFailed", "retry.scheduled", "breaker.rejected",
                "retry.attemptFailed", "retry.gaveUp",
            ]
            #expect(world.events.names == expected)
        }
    }

    @Test("PIP-2: a rate limiter's refusal is retried after the delay it names")
    func rateLimited() async throws {
        try await simulate { world in
            let db = Dependency()
            let limiter = RateLimiter(rate: 1, per: .seconds(3), burst: 1)
            let pipeline = Pipeline().retry(attempts: 2).rateLimit(limiter)
            let values = [
                try await pipeline.run(db.succeed), try await pipeline.run(db.succeed),
            ]
            #expect(values == [1, 2])
            #expect(world.clock.now.sinceOrigin == .seconds(3))
            let expected = [
                "rateLimit.rejected", "retry.attemptFailed", "retry.scheduled", "retry.succeeded",
            ]
            #expect(world.events.names == expected)
        }
    }

    @Test("PIP-3: the order is fixed, however it was built")
    func order() async throws {
        try await simulate { world in
            let db = Dependency()
            let breaker = CircuitBreaker("db")
            let bulkhead = Bulkhead(limit: 1, queue: 0)
            let limiter = RateLimiter(rate: 1, per: .seconds(100), burst: 10)
            let pipeline = Pipeline()
                .attemptDeadline(.seconds(1)).breaker(breaker).rateLimit(limiter)
                .retry(.spaced(.seconds(1)), attempts: 3, budget: .unlimited)
                .bulkhead(bulkhead).deadline(.seconds(30))
            let call = spawn { () -> String in
                do { return "\(try await pipeline.run(db.fail))" } catch { return "\(error)" }
            }
            try await world.clock.sleep(for: .milliseconds(500))
            #expect(bulkhead.running == 1, "a retry keeps its place between attempts")
            do {
                _ = try await pipeline.run(db.succeed)
                Issue.record("there is one place")
            } catch { #expect(Rejection(in: error) == .bulkheadFull) }
            #expect(await call.value == "\(PolicyError<Ill>.failed(Ill()))")
            #expect(db.calls == 3)
            #expect(limiter.available == 7, "each attempt took a token")
            for _ in 0..<7 { _ = await breaker.word { try await db.fail() } }
            #expect(breaker.phase != .closed, "it heard of every attempt")
            #expect(world.events.names.first == "retry.attemptFailed")
            #expect(world.events.names.contains("bulkhead.rejected"))
        }
    }

    @Test("PIP-4: an attempt that is cut counts for the breaker, is retried, and fails in the end")
    func attemptCut() async throws {
        try await simulate { world in
            let breaker = CircuitBreaker("db")
            let pipeline = Pipeline()
                .retry(.immediate, attempts: 10, budget: .unlimited).breaker(breaker)
                .attemptDeadline(.seconds(1))
            await #expect(
                throws: PolicyError<DeadlineExceeded>.failed(
                    DeadlineExceeded(limit: .seconds(1)))
            ) {
                try await pipeline.run { () async throws(CancellationError) in
                    try await hang(world)
                }
            }
            #expect(world.clock.now.sinceOrigin == .seconds(10))
            #expect(breaker.phase != .closed)
            #expect(world.events.names.filter { $0 == "deadline.expired" }.count == 10)
            #expect(world.events.names.filter { $0 == "breaker.opened" }.count == 1)
        }
    }

    @Test("PIP-5: the deadline of the whole ends waits, attempts and delays")
    func whole() async throws {
        try await simulate { world in
            let pipeline = Pipeline().deadline(.seconds(5)).retry(.spaced(.seconds(4)))
            let db = Dependency()
            await #expect(throws: PolicyError<Ill>.failed(Ill())) {
                try await pipeline.run(db.fail)
            }
            #expect(world.clock.now.sinceOrigin == .seconds(4), "the next delay is beyond it")
            #expect(world.events.names.last == "retry.gaveUp")
            do {
                try await pipeline.run { try await world.clock.sleep(for: .seconds(9)) }
                Issue.record("it takes nine seconds")
            } catch {
                guard case PolicyError<any Error>.failed(let own) = error else {
                    Issue.record("\(error)")
                    return
                }
                #expect(own is DeadlineExceeded)
            }
            #expect(world.clock.now.sinceOrigin == .seconds(9))
            #expect(world.events.names.contains("deadline.expired"))
        }
    }

    @Test("PIP-6: a clock that is given is that of every layer")
    func clock() async throws {
        try await simulate { world in
            let other = AnyClock(world.clock)
            let db = Dependency()
            try await world.clock.sleep(for: .seconds(100))
            let pipeline = Pipeline().deadline(.seconds(5)).retry(.spaced(.seconds(60)))
            await #expect(throws: PolicyError<Ill>.failed(Ill())) {
                try await pipeline.run(clock: other, db.fail)
            }
            #expect(world.clock.now.sinceOrigin == .seconds(100), "the delay is beyond it")
            #expect(world.events.names.last == "retry.gaveUp")
        }
    }

    @MainActor @Test("PIP-7: every layer stays on the caller's actor")
    func actor() async throws {
        final class Counter { var count = 0 }
        let counter = Counter()
        let pipeline = Pipeline()
            .deadline(.seconds(3_600)).bulkhead(Bulkhead(limit: 1)).retry()
            .rateLimit(RateLimiter(rate: 1, per: .seconds(1), burst: 1))
            .breaker(CircuitBreaker("db")).attemptDeadline(.seconds(600))
        let recorder = EventRecorder()
        try await withAmbient {
            $0.instrumentation = recorder
        } operation: {
            try await pipeline.run {
                MainActor.assertIsolated()
                await Task.yield()
                MainActor.assertIsolated()
                counter.count += 1
            }
        }
        #expect(counter.count == 1)
        #expect(recorder.names.isEmpty)
    }
}

/// Does nothing until it is cancelled.
func hang(_ world: SimulatedWorld) async throws(CancellationError) {
    do { try await world.clock.sleep(for: .century) } catch { throw CancellationError() }
}
