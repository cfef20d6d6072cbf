import Synchronization
import Testing

@testable import Stoic

/// Nothing here depends on how long anything takes.
@Suite("deadlines and slots, on real threads", .timeLimit(.minutes(5)))
struct DeadlineRaceTests {
    @Test("timers, callers and ends race: one cause each, the outcome is that of the cause")
    func races() async {
        await atOnce { random in
            for round in 0..<100 {
                let wrong = await Self.race(&random)
                #expect(wrong == nil, "round \(round)")
            }
        }
    }

    /// How a race ended, if that is not how its cause says.
    private static func race(_ random: inout RandomSource) async -> String? {
        let limit = Duration.microseconds(Int.random(in: 1...300, using: &random))
        let work = Duration.microseconds(Int.random(in: 1...300, using: &random))
        let isStubborn = Bool.random(using: &random)
        let cause = Mutex<CancellationCause?>(nil)
        let call = Task { () async throws -> Int in
            try await withTimeout(limit) {
                defer { cause.withLock { $0 = Cancellation.cause } }
                if isStubborn {
                    await shielded { _ = await Deadline.in(work).sleep() }
                } else {
                    try await Ambient.current.clock.sleep(for: work)
                }
                return 7
            }
        }
        if Bool.random(using: &random) {
            await giveWay(5, &random)
            call.cancel()
        }
        do {
            let value = try await call.value
            return value == 7 ? nil : "\(value)"
        } catch PolicyError<any Error>.failed(is DeadlineExceeded) {
            return cause.withLock { $0 == .deadlineExpired ? nil : "cut, of another cause" }
        } catch is CancellationError {
            return cause.withLock { $0 == .requested ? nil : "cancelled, of another cause" }
        } catch {
            return "\(error)"
        }
    }

    @Test("slots: never two at work")
    func slots() async {
        // Longer than any machine is busy: work that is left behind would be beside newer work.
        let slot = WorkSlot<Int>("slot", endingWithin: .seconds(200))
        let atWork = Count()
        await atOnce { random in
            let policies: [WorkSlot<Int>.Policy] = [.replace, .keep, .join]
            for _ in 0..<100 {
                let policy = policies[Int.random(in: 0..<3, using: &random)]
                do {
                    _ = try await slot.run(policy) {
                        atWork.enter()
                        defer { atWork.leave() }
                        for _ in 0..<3 { await Task.yield() }
                        return 1
                    }
                } catch PolicyError<any Error>.rejected(.bulkheadFull) {
                } catch is CancellationError {
                } catch {
                    Issue.record("\(error)")
                }
            }
        }
        await slot.close()
        #expect(atWork.now == 0 && atWork.most == 1)
        #expect(!slot.isTaken)
    }

    @Test("a shield: callers are cancelled at any moment, the body runs to its end")
    func shields() async {
        await atOnce { random in
            for _ in 0..<200 {
                let ended = Mutex(false)
                let call = Task {
                    await shielded {
                        for _ in 0..<3 { await Task.yield() }
                        let wasCancelled = Task.isCancelled
                        ended.withLock { $0 = !wasCancelled }
                    }
                }
                await giveWay(6, &random)
                call.cancel()
                await call.value
                #expect(ended.withLock { $0 })
            }
        }
    }

    @Test("granted time is taken back while runs begin and end: each is answered once")
    func expiry() async {
        let wrong = Count()
        await atOnce { random in
            for _ in 0..<50 {
                let granted = ExpiringWork(grantSeconds: 60)
                let answers = Count()
                let runs = (0..<3).map { _ in
                    Task {
                        await granted.run(answer: { _ in answers.enter() }) { _ in
                            for _ in 0..<3 { await Task.yield() }
                        }
                    }
                }
                await giveWay(8, &random)
                granted.expire()
                for run in runs { await run.value }
                if answers.total != 3 { wrong.enter() }
            }
        }
        #expect(wrong.total == 0)
    }
}
