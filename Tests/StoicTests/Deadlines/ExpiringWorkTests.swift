import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("ExpiringWork", .timeLimit(.minutes(20)))
struct ExpiringWorkTests {
    /// Remembers the answers, and when they came.
    final class Answers: Sendable {
        private let list = Mutex<[ExpiringWork.Answer]>([])
        var all: [ExpiringWork.Answer] { list.withLock { $0 } }
        func take(_ answer: ExpiringWork.Answer) { list.withLock { $0.append(answer) } }
    }

    @Test("EXP-1: expiry before the run: answered at once, cancelled from its beginning")
    func before() async throws {
        try await simulate { world in
            let answers = Answers()
            let work = ExpiringWork(grantSeconds: 25)
            work.expire()
            #expect(answers.all == [])
            let seen = await work.run(answer: answers.take) { run in
                #expect(answers.all == [.expired])
                #expect(Task.isCancelled)
                return (run.cause, Cancellation.cause)
            }
            #expect(seen.0 == .systemExpiring)
            #expect(seen.1 == .systemExpiring)
            #expect(answers.all == [.expired])
            #expect(world.events.names == ["expiring.expired"])
        }
    }

    @Test("EXP-2: expiry during the run: answered at once, not after the work has unwound")
    func during() async throws {
        try await simulate { world in
            let answers = Answers()
            let work = ExpiringWork(grantSeconds: nil)
            let run = spawn {
                await work.run(answer: answers.take) { run in
                    do { try await workPolitely(.seconds(60)) } catch {
                        #expect(answers.all == [.expired])
                        await workStubbornly(.seconds(5))
                    }
                    return run.cause
                }
            }
            try await world.clock.advance(by: .seconds(1))
            work.expire()
            #expect(answers.all == [.expired])
            #expect(await run.value == .systemExpiring)
            #expect(world.clock.now.sinceOrigin == .seconds(6))
            #expect(answers.all == [.expired])
            #expect(world.events.names == ["expiring.expired"])
            #expect(world.events.events[0].fields == [.init("runs", 1)])
        }
    }

    @Test("EXP-3: expiry after the run: it was answered once, and stays so")
    func after() async throws {
        try await simulate { world in
            let answers = Answers()
            let work = ExpiringWork(grantSeconds: 25)
            let value = await work.run(answer: answers.take) { _ in 7 }
            #expect(value == 7)
            #expect(answers.all == [.done])
            work.expire()
            work.expire()
            #expect(answers.all == [.done])
            #expect(world.events.names == ["expiring.expired"])
            #expect(world.events.events[0].fields == [.init("runs", 0)])
        }
    }

    @Test("EXP-4: expiry and return together: one answer, in every order")
    func together() async throws {
        let seen = Mutex<Set<ExpiringWork.Answer>>([])
        try await explore(seeds: 67, under: SimulatedOrder.punctual) { world in
            let answers = Answers()
            let work = ExpiringWork(grantSeconds: 25)
            let run = spawn {
                await work.run(answer: answers.take) { _ in
                    await workStubbornly(.seconds(1))
                    return 7
                }
            }
            let expiry = spawn {
                await workStubbornly(.seconds(1))
                work.expire()
            }
            #expect(await run.value == 7)
            await expiry.value
            #expect(world.events.names == ["expiring.expired"])
            #expect(answers.all.count == 1)
            seen.withLock { $0.formUnion(answers.all) }
        }
        #expect(seen.withLock { $0 } == [.done, .expired])
    }

    @Test("EXP-5: the caller cancels: passed on, its own cause, silent as nobody else decides")
    func callerCancels() async throws {
        try await simulate { world in
            let answers = Answers()
            let work = ExpiringWork(grantSeconds: 25)
            let run = spawn {
                await work.run(answer: answers.take) { run in
                    do { try await workPolitely(.seconds(20)) } catch {
                        #expect(answers.all == [])
                    }
                    return run.cause
                }
            }
            try await world.clock.advance(by: .seconds(1))
            run.cancel()
            #expect(await run.value == .requested)
            #expect(world.clock.now.sinceOrigin == .seconds(1))
            #expect(answers.all == [.done])
            #expect(!work.isExpired)
            #expect(world.events.names == [])
        }
    }

    @Test("EXP-6: a second run has a cause of its own, and expired stays expired")
    func secondRun() async throws {
        try await simulate { world in
            let answers = Answers()
            let work = ExpiringWork(grantSeconds: 25)
            let first = spawn {
                await work.run(answer: answers.take) { run in
                    do { try await workPolitely(.seconds(20)) } catch {}
                    return run.cause
                }
            }
            try await world.clock.advance(by: .seconds(1))
            first.cancel()
            #expect(await first.value == .requested)
            let second = await work.run(answer: answers.take) { run in run.cause }
            #expect(second == nil)
            work.expire()
            for _ in 0..<2 {
                let late = await work.run(answer: answers.take) { run in run.cause }
                #expect(late == .systemExpiring)
            }
            #expect(answers.all == [.done, .done, .expired, .expired])
            #expect(world.events.names == ["expiring.expired"])
        }
    }

    @Test("EXP-7: the granted time passes first: cut by its deadline, answered at the end")
    func grantPasses() async throws {
        try await simulate { world in
            let answers = Answers()
            let work = ExpiringWork(grantSeconds: 25)
            try await world.clock.advance(by: .seconds(5))
            let cause = await work.run(answer: answers.take) { run in
                do { try await workPolitely(.seconds(60)) } catch {
                    #expect(answers.all == [])
                }
                work.expire()
                #expect(answers.all == [.expired])
                return run.cause
            }
            #expect(cause == .deadlineExpired)
            #expect(world.clock.now.sinceOrigin == .seconds(25))
            #expect(answers.all == [.expired])
            let late = await work.run(answer: answers.take) { run in run.cause }
            #expect(late == .systemExpiring)
            #expect(
                world.events.names == ["deadline.expired", "expiring.expired", "deadline.metLate"])
        }
    }

    @Test(
        "EXP-8: a grant that is no real time counts as none",
        arguments: [
            .nan, .infinity, -.infinity, -1, 3_600.1, .greatestFiniteMagnitude,
            -.leastNonzeroMagnitude, .signalingNaN,
        ] as [Double])
    func noGrant(seconds: Double) async throws {
        try await simulate { world in
            let work = ExpiringWork(grantSeconds: seconds)
            #expect(work.grant == nil)
            try await work.run { _ in try await workPolitely(.seconds(10_000)) }
            #expect(world.events.names == ["expiring.grantIgnored"])
        }
    }

    @Test("EXP-8: what counts as a grant", arguments: [(0, 0), (25, 25_000), (3_600, 3_600_000)])
    func grants(seconds: Double, milliseconds: Int) async throws {
        #expect(ExpiringWork(grantSeconds: seconds).grant == .milliseconds(milliseconds))
        #expect(ExpiringWork(grantSeconds: nil).grant == nil)
    }

    @Test("EXP-9: two runs at once: each has its answer")
    func twoRuns() async throws {
        try await simulate { world in
            let answers = Answers()
            let work = ExpiringWork(grantSeconds: nil)
            let runs = (0..<2).map { _ in
                spawn {
                    await work.run(answer: answers.take) { run in
                        do { try await workPolitely(.seconds(20)) } catch {}
                        return run.cause
                    }
                }
            }
            try await world.clock.advance(by: .seconds(1))
            work.expire()
            #expect(answers.all == [.expired, .expired])
            for run in runs { #expect(await run.value == .systemExpiring) }
            #expect(world.events.names == ["expiring.expired"])
            #expect(world.events.events[0].fields == [.init("runs", 2)])
        }
    }
}
