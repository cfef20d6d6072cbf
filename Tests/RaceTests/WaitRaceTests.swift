import Synchronization
import Testing

@testable import Stoic

@Suite("what waits for something, on real threads", .timeLimit(.minutes(5)))
struct WaitRaceTests {
    @Test("permits are taken, given back, waited for and left: never too many, none is lost")
    func semaphore() async {
        let semaphore = Semaphore(limit: 3, queue: 4)
        let holders = Count()
        await atOnce { random in
            for round in 0..<100 {
                let within = round % 2 == 0 ? nil : Duration.microseconds(round)
                let call = Task {
                    do {
                        let permit = try await semaphore.acquire(within: within)
                        holders.enter()
                        await Task.yield()
                        holders.leave()
                        permit.release()
                    } catch { /* Refused, too late or cancelled. */  }
                }
                if round % 5 == 0 {
                    await giveWay(5, &random)
                    call.cancel()
                }
                await call.value
            }
        }
        #expect(holders.now == 0 && holders.most <= 3 && holders.total > 0)
        #expect(semaphore.available == 3 && semaphore.waiting == 0)
    }

    @Test("a limiter that waits: callers leave the line at any moment")
    func limiter() async {
        let limiter = RateLimiter(
            rate: 100_000, per: .seconds(1), burst: 2, excess: .wait(max: .seconds(60)))
        await atOnce { random in
            for round in 0..<50 {
                let call = Task { try await limiter.acquire() }
                if round % 3 == 0 {
                    await giveWay(5, &random)
                    call.cancel()
                }
                _ = await call.result
            }
        }
        #expect(limiter.waiting == 0)
    }

    @Test("a breaker: everybody is admitted and judged at once, and it recovers")
    func breaker() async {
        var settings = CircuitBreaker.Settings()
        settings.minimumCalls = 5
        settings.openFor = .microseconds(50)
        settings.openForAtMost = .microseconds(50)
        let breaker = CircuitBreaker("b", settings)
        let admitted = Count()
        await atOnce { random in
            for _ in 0..<200 {
                let fails = Bool.random(using: &random)
                do {
                    let permit = try breaker.admit()
                    admitted.enter()
                    await giveWay(1, &random)
                    if fails { permit.fail() } else { permit.succeed() }
                } catch { await giveWay(2, &random) }
            }
        }
        // As often as its pauses allow, and not only until it opened first.
        #expect(admitted.total > 20)
    }

    @Test("a value comes while waiters arrive, run out of time and are cancelled: all see it once")
    func completion() async {
        await atOnce { random in
            for round in 0..<100 {
                let done = Completion<Int>()
                let waiters = (0..<4).map { number in
                    Task {
                        number % 2 == 0
                            ? await done.wait()
                            : await done.wait(until: .in(.microseconds(20 * round)))
                    }
                }
                await giveWay(3, &random)
                waiters[round % 4].cancel()
                async let other = done.fulfil(1)
                let first = done.fulfil(2)
                let second = await other
                #expect(first != second)
                for (number, waiter) in waiters.enumerated() {
                    let value = await waiter.value
                    let mayMiss = number == round % 4 || number % 2 == 1
                    #expect(value == done.value || value == nil && mayMiss)
                }
            }
        }
    }

    @Test("messages of many senders reach their one reader, each sender's in order")
    func mailbox() async {
        let mailbox = Mailbox<(sender: Int, number: Int)>()
        await silently {
            await withTaskGroup { group in
                for sender in 0..<4 {
                    group.addTask {
                        for number in 0..<500 {
                            mailbox.send((sender, number))
                            if number % 7 == 0 { await Task.yield() }
                        }
                    }
                }
                var next = [0, 0, 0, 0]
                while next.reduce(0, +) < 2_000 {
                    let soon = Deadline.in(.microseconds(50))
                    guard let message = await mailbox.next(until: soon) else { continue }
                    #expect(message.number == next[message.sender])
                    next[message.sender] += 1
                }
            }
        }
    }

    @Test("lines of many tasks reach a thread of its own, and each flush ends")
    func writer() async {
        let written = Count()
        let writer = BackgroundWriter("test") { _ in
            []
        } write: { _ in
            written.enter()
            return .written
        }
        await atOnce { random in
            for _ in 0..<200 {
                writer.enqueue([1])
                if Int.random(in: 0..<50, using: &random) == 0 {
                    let isOut = await writer.flush(within: .seconds(60))
                    #expect(isOut)
                }
            }
        }
        #expect(await writer.flush(within: .seconds(60)))
        #expect(written.total == 1_600 - writer.dropped)
    }
}
