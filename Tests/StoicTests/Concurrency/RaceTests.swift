import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("race", .timeLimit(.minutes(20)))
struct RaceTests {
    @Test("CON-1: a loser that ignores its cancellation is awaited within the bound")
    func slowLoser() async throws {
        try await inPunctualWorlds { world in
            let ended = Mutex(false)
            let value = try await race(
                { () async throws -> Int in
                    await world.ignoringCancellation(.seconds(4))
                    ended.withLock { $0 = true }
                    return 1
                },
                { () async throws -> Int in
                    try await world.clock.sleep(for: .seconds(1))
                    return 2
                })
            #expect(value == 2 && ended.withLock { $0 })
            #expect(world.clock.now.sinceOrigin == .seconds(4))
            #expect(world.events.names == ["race.won"])
            #expect(world.details(.raceWon, "winner") == [.integer(1)])
        }
    }

    @Test("CON-8: who ignores its cancellation for longer is left behind, counted and reported")
    func abandonedLoser() async throws {
        try await inPunctualWorlds { world in
            let value = try await race(
                { () async throws -> Int in
                    await world.ignoringCancellation(.seconds(60))
                    throw Trouble(number: 9)
                },
                { 2 }, losersWithin: .seconds(3))
            #expect(value == 2)
            #expect(world.clock.now.sinceOrigin == .seconds(3))
            #expect(AbandonedWork.inProcess == 1)
            #expect(world.events.names == ["deadline.abandoned", "race.won"])
            try await world.clock.advance(by: .seconds(60))
            #expect(AbandonedWork.inProcess == 0)
            #expect(world.events.names.last == "deadline.abandonedReturned")
            #expect(world.details(.deadlineAbandonedReturned, "after") == [.duration(.seconds(57))])
            #expect(world.details(.deadlineAbandonedReturned, "error").first != .none)
        }
    }

    @Test("CON-9: when too much is left behind already, the losers are awaited")
    func saturated() async throws {
        try await inPunctualWorlds(20) { world in
            let value = try await race(Array(0...66)) { number in
                if number > 0 { await world.ignoringCancellation(.seconds(60)) }
                return number
            }
            #expect(value == 0)
            #expect(world.clock.now.sinceOrigin == .seconds(60))
            #expect(world.events.names.count { $0 == "deadline.abandoned" } == AbandonedWork.cap)
            #expect(world.events.names.count { $0 == "deadline.abandonmentSaturated" } == 1)
            #expect(world.events.events.contains { $0.level == .error })
        }
    }

    @Test("CON-2: of two successes at once exactly one is returned, and both clean up")
    func twoWinners() async throws {
        let winners = Mutex(Set<Int>())
        try await inManyWorlds { world in
            let cleaned = Mutex(0)
            let winner = try await race([0, 1], losersWithin: .century) { index in
                defer { cleaned.withLock { $0 += 1 } }
                await world.ignoringCancellation(.seconds(1))
                return index
            }
            winners.withLock { _ = $0.insert(winner) }
            #expect(cleaned.withLock { $0 } == 2)
            #expect(world.details(.raceWon, "winner") == [.integer(winner)])
        }
        #expect(winners.withLock { $0 } == [0, 1])
    }

    @Test("CON-3: a failure does not end a race; all of them do, in the order they came")
    func allFail() async throws {
        try await inPunctualWorlds { world in
            let run = { @Sendable (seconds: Int) async throws(Trouble) -> Int in
                await world.ignoringCancellation(.seconds(abs(seconds)))
                if seconds > 0 { throw Trouble(number: seconds) }
                return seconds
            }
            let error = await failure { _ = try await race([3, 1, 2], run) }
            let all = (error as? ConcurrentFailure<Trouble>)?.all
            #expect(all == [Trouble(number: 1), Trouble(number: 2), Trouble(number: 3)])
            #expect(world.events.names == ["race.lost"])
            let value = try await race([3, 1, -2], run)
            #expect(value == -2)
            #expect(world.events.names.last == "race.won")
        }
    }

    @Test("CON-4: a caller that is cancelled gets its cancellation only, after everybody ended")
    func cancelledCaller() async throws {
        try await inPunctualWorlds { world in
            let ended = Mutex(0)
            let causes = Mutex(Set<CancellationCause?>())
            let task = spawn {
                await failure {
                    try await race([0, 1, 2]) { _ in
                        defer { ended.withLock { $0 += 1 } }
                        do { try await world.clock.sleep(for: .seconds(9)) } catch {
                            causes.withLock { _ = $0.insert(Cancellation.cause) }
                            throw Trouble()
                        }
                    }
                }
            }
            try await world.clock.sleep(for: .seconds(1))
            task.cancel()
            #expect(await task.value is CancellationError)
            #expect(ended.withLock { $0 } == 3 && causes.withLock { $0 } == [.requested])
            #expect(world.events.names == [])
        }
    }

    @Test("CON-4: cancelled and won at one moment, it is one of the two")
    func cancelledOrWon() async throws {
        let outcomes = Mutex(Set<String>())
        try await inManyWorlds { world in
            let gate = Completion<Void>()
            let task = spawn { () async -> String in
                let error = await failure {
                    try await race([1], losersWithin: .century) { _ in _ = await gate.wait() }
                }
                return error.map { "\(type(of: $0))" } ?? "won"
            }
            let opener = spawn { gate.fulfil(()) }
            let canceller = spawn { task.cancel() }
            _ = await (opener.value, canceller.value)
            let outcome = await task.value
            outcomes.withLock { _ = $0.insert(outcome) }
            #expect(world.events.names == (outcome == "won" ? ["race.won"] : []))
        }
        #expect(outcomes.withLock { $0 } == ["won", "CancellationError"])
    }

    @Test("CON-10: a cancellation that is an operation's own is no failure")
    func ownCancellation() async throws {
        try await inManyWorlds { world in
            let one = await failure {
                try await race({ throw CancellationError() }, { throw Trouble() })
            }
            #expect((one as? ConcurrentFailure<any Error>)?.all.count == 1)
            let other = await failure { try await race([1]) { _ in throw CancellationError() } }
            #expect(other is CancellationError)
            #expect(world.events.names == ["race.lost"])
        }
    }

    @Test("CON-7: a defect of a loser is reported at error level")
    func defect() async throws {
        try await inManyWorlds { world in
            let error = await failure {
                try await race({ throw Blunder() }, { throw Trouble() })
            }
            #expect(
                (error as? ConcurrentFailure<any Error>)?.all.contains { $0 is Blunder } == true)
            let reports = world.events.events.filter { $0.name == .defectThrown }
            #expect(reports.count == 1 && reports.first?.level == .error)
        }
    }

    @Test("the loser sees why it was cancelled")
    func cause() async throws {
        try await inPunctualWorlds { world in
            let cause = Mutex<CancellationCause?>(nil)
            try await race(
                {},
                {
                    do { try await world.clock.sleep(for: .seconds(9)) } catch {
                        cause.withLock { $0 = Cancellation.cause }
                    }
                })
            // It may have been cancelled before it began; then too it has the cause.
            #expect(cause.withLock { $0 } == .siblingWon)
        }
    }

    @MainActor @Test("CON-11: it is called from any actor; the operations run beside it")
    func fromMainActor() async throws {
        let log = Mutex([String]())
        let value = try await race({ 1 }, { 1 }, { 1 })
        let both = try await gather({ 2 }, { "three" })
        log.withLock { $0.append("\(value) \(both)") }
        let doubled = try await mapConcurrent(1...3, limit: 2) { $0 * 2 }
        #expect(log.withLock { $0 } == ["1 (2, \"three\")"] && doubled == [2, 4, 6])
        let error = await failure { try await gather({ throw Trouble() }) }
        #expect(error is ConcurrentFailure<any Error>)
    }
}
