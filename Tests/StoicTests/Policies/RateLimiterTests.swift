import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("RateLimiter", .timeLimit(.minutes(20)))
struct RateLimiterTests {
    @Test("RAT-1: in any window at most burst + rate × t begin; a steady caller gets the rate")
    func property() async throws {
        for seed in UInt64(0)..<60 {
            var random = RandomSource.seeded(seed)
            let rate = Int.random(in: 1...50, using: &random)
            let burst = Int.random(in: 1...20, using: &random)
            let per = Int64.random(in: 1...3_000_000_000, using: &random)
            var bucket = TokenBucket(rate: rate, per: per, burst: burst, at: 0)
            var now: Int64 = 0
            var taken: [Int64] = []
            for _ in 0..<200 {
                now += Int64.random(in: 0...(per / Int64(rate) * 2 + 1), using: &random)
                bucket.pass(to: now)
                for _ in 0..<Int.random(in: 0...3, using: &random) where bucket.take() {
                    taken.append(now)
                }
                let wait = bucket.wait(forToken: 1)
                var later = bucket
                later.pass(to: now + wait)
                let isThere = later.take()
                #expect(isThere, "the token is there when it was promised")
                guard wait > 0 else { continue }
                var sooner = bucket
                sooner.pass(to: now + wait - 1)
                let isEarly = sooner.take()
                #expect(!isEarly, "and not before")
            }
            for first in taken.indices {
                let most = (first..<taken.count).first { last in
                    let span = Int128(taken[last] - taken[first])
                    let allowed = Int128(burst) * Int128(per) + span * Int128(rate)
                    return Int128(last - first + 1) * Int128(per) > allowed
                }
                #expect(most == nil, "too many from the \(first)th on, seed \(seed)")
            }
        }
    }

    @Test("RAT-1: a burst, then the rate; a refused caller is told when")
    func rejects() async throws {
        try await simulate { world in
            let limiter = RateLimiter(rate: 2, per: .seconds(1), burst: 3)
            let db = Dependency()
            for _ in 0..<3 { _ = try await limiter.run { await db.succeed() } }
            await #expect(
                throws: PolicyError<Ill>.rejected(.rateLimited(retryAfter: .milliseconds(500)))
            ) {
                try await limiter.run(db.fail)
            }
            #expect(db.calls == 3)
            try await world.clock.sleep(for: .milliseconds(499))
            #expect(!limiter.tryAcquire())
            try await world.clock.sleep(for: .milliseconds(1))
            #expect(limiter.tryAcquire())
            try await world.clock.sleep(for: .seconds(100))
            #expect(limiter.available == 3)
            #expect(world.events.names == ["rateLimit.rejected"])
        }
    }

    @Test("RAT-2: a thousand waiters are cancelled: the tokens are what they were")
    func cancelled() async throws {
        try await explore(seeds: 7, under: SimulatedOrder.punctual) { world in
            let limiter = RateLimiter(
                rate: 1, per: .seconds(1), burst: 1, excess: .wait(max: .seconds(2_000)))
            try await limiter.acquire()
            let waiters = (0..<1_000).map { _ in
                spawn { () -> Bool in
                    do {
                        try await limiter.acquire()
                        return false
                    } catch { return error is CancellationError }
                }
            }
            try await world.clock.sleep(for: .milliseconds(500))
            #expect(limiter.waiting == 1_000)
            for waiter in waiters { waiter.cancel() }
            for waiter in waiters { #expect(await waiter.value) }
            #expect(limiter.waiting == 0)
            #expect(limiter.available == 0)
            try await world.clock.sleep(for: .milliseconds(500))
            #expect(limiter.available == 1)
            #expect(world.clock.sleeperCount == 0)
            let names = Set(world.events.names)
            #expect(names == ["rateLimit.delayed"], "a cancelled wait is silent")
        }
    }

    @Test("RAT-3: waiters begin in the order they came, each when its token is there")
    func order() async throws {
        try await simulate { world in
            let limiter = RateLimiter(
                rate: 1, per: .seconds(1), burst: 1, excess: .wait(max: .seconds(3)))
            let log = Notes()
            var callers: [Task<Void, Never>] = []
            for number in 0..<6 {
                callers.append(
                    spawn {
                        do {
                            try await limiter.run {
                                log.add("\(number) at \(world.clock.now.sinceOrigin)")
                            }
                        } catch {
                            let wait = Rejection(in: error)
                            #expect(wait == .rateLimited(retryAfter: .seconds(4)))
                            log.add("\(number) refused")
                        }
                    })
            }
            for caller in callers { await caller.value }
            let expected = [
                "0 at 0.0 seconds", "4 refused", "5 refused", "1 at 1.0 seconds",
                "2 at 2.0 seconds", "3 at 3.0 seconds",
            ]
            #expect(log.lines == expected)
            let names = world.events.names
            #expect(names.filter { $0 == "rateLimit.delayed" }.count == 3)
            #expect(names.filter { $0 == "rateLimit.rejected" }.count == 2)
        }
    }

    @Test("RAT-4: a waiter that leaves lets those behind it move up")
    func movesUp() async throws {
        try await explore(seeds: 67, under: SimulatedOrder.punctual) { world in
            let limiter = RateLimiter(
                rate: 1, per: .seconds(1), burst: 1, excess: .wait(max: .seconds(9)))
            try await limiter.acquire()
            let begun = Mutex<[Duration]>([])
            let waiters = (0..<6).map { _ in
                spawn {
                    do {
                        try await limiter.acquire()
                        begun.withLock { $0.append(world.clock.now.sinceOrigin) }
                    } catch {}
                }
            }
            try await world.clock.sleep(for: .milliseconds(500))
            for number in [0, 2, 5] { waiters[number].cancel() }
            for waiter in waiters { await waiter.value }
            #expect(begun.withLock { $0 } == [.seconds(1), .seconds(2), .seconds(3)])
            #expect(Set(world.events.names) == ["rateLimit.delayed"])
        }
    }

    @Test("RAT-5: who would come after its deadline is refused at once")
    func deadline() async throws {
        try await simulate { world in
            let limiter = RateLimiter(
                rate: 1, per: .seconds(10), burst: 1, excess: .wait(max: .seconds(60)))
            try await limiter.acquire()
            do {
                try await withDeadline(.in(.seconds(5))) {
                    try await limiter.run { _ = Issue.record("there is no token") }
                }
                Issue.record("there is no token")
            } catch {
                #expect(Rejection(in: error) == .rateLimited(retryAfter: .seconds(10)))
            }
            #expect(world.clock.now.sinceOrigin == .zero)
            #expect(limiter.waiting == 0)
            #expect(world.events.names == ["rateLimit.rejected"])
        }
    }

    @Test("the clock may jump a century and the numbers be extreme")
    func extremes() {
        let century = Duration.century.nanoseconds
        var bucket = TokenBucket(rate: 1_000_000_000, per: century, burst: 1_000_000_000, at: 0)
        for _ in 0..<3 where !bucket.take() { Issue.record("it was full") }
        bucket.pass(to: .max)
        bucket.pass(to: 0)
        #expect(bucket.tokens == 1_000_000_000)
        var slow = TokenBucket(rate: 1, per: century, burst: 1, at: 0)
        let first = slow.take()
        #expect(first)
        #expect(slow.wait(forToken: 1) == century)
        #expect(slow.wait(forToken: 1_000_000) == .max)
    }
}
