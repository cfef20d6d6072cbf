import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("mapConcurrent, forEachConcurrent, gather", .timeLimit(.minutes(20)))
struct MapConcurrentTests {
    @Test("CON-3: failures in the order they came; the siblings' cancellations are none")
    func cancelSiblings() async throws {
        try await inPunctualWorlds { world in
            let census = Census()
            let error = await failure {
                _ = try await mapConcurrent(0..<100, limit: 5) { number in
                    census.enter()
                    defer { census.leave() }
                    switch number {
                    case 0: await world.ignoringCancellation(.seconds(3))
                    case 1: try await world.clock.sleep(for: .seconds(1))
                    default: try await world.clock.sleep(for: .seconds(9))
                    }
                    throw Trouble(number: number)
                }
            }
            let all = (error as? ConcurrentFailure<any Error>)?.all
            #expect(all?.map { "\($0)" } == ["\(Trouble(number: 1))", "\(Trouble(number: 0))"])
            #expect(census.now == 0 && census.total == 5)
            #expect(world.clock.now.sinceOrigin == .seconds(3))
            #expect(world.events.names == ["map.cancelledSiblings"])
            #expect(world.details(.mapCancelledSiblings, "begun") == [.integer(5)])
        }
    }

    @Test("CON-12: collecting, everything runs and all failures are thrown")
    func collect() async throws {
        try await inManyWorlds { world in
            let census = Census()
            let error = await failure {
                try await forEachConcurrent(0..<20, limit: 3, onFailure: .collect) { number in
                    census.enter()
                    try await world.clock.sleep(for: .seconds(number % 4))
                    if number % 5 == 0 { throw Trouble(number: number) }
                }
            }
            let all = (error as? ConcurrentFailure<any Error>)?.all.compactMap { $0 as? Trouble }
            #expect(Set((all ?? []).map(\.number)) == [0, 5, 10, 15] && census.total == 20)
            #expect(world.events.names == [])
        }
    }

    @Test("CON-4: a caller that is cancelled half-way gets its cancellation only")
    func cancelled() async throws {
        try await inPunctualWorlds { world in
            let census = Census()
            let task = spawn {
                await failure {
                    try await forEachConcurrent(0..<1_000, limit: 4) { _ in
                        census.enter()
                        defer { census.leave() }
                        do { try await world.clock.sleep(for: .seconds(2)) } catch {
                            throw Trouble()
                        }
                    }
                }
            }
            try await world.clock.sleep(for: .seconds(5))
            task.cancel()
            #expect(await task.value is CancellationError)
            #expect(census.now == 0 && census.total == 12)
            #expect(world.clock.now.sinceOrigin == .seconds(5) && world.events.names == [])
        }
    }

    @Test("CON-5: one at a time, in the order of the elements")
    func sequential() async throws {
        try await inManyWorlds { world in
            let seen = Mutex([Int]())
            let results = try await mapConcurrent(0..<20, limit: 1, order: .completion) { number in
                seen.withLock { $0.append(number) }
                try await world.clock.sleep(for: .seconds(number % 3))
                return number
            }
            #expect(seen.withLock { $0 } == Array(0..<20) && results == Array(0..<20))
            #expect(world.events.names == [])
        }
    }

    @Test("CON-6: a million elements, eight at a time, in memory for eight")
    func bounded() async throws {
        try await simulate(mostSteps: 50_000_000) { world in
            let (elements, work) = (Census(), Census())
            let counted = (0..<1_000_000).lazy.map { _ in Counted(elements) }
            try await forEachConcurrent(counted, limit: 8) { element in
                work.enter()
                element.touch()
                work.leave()
            }
            #expect(work.total == 1_000_000 && work.most <= 8)
            #expect(elements.most <= 10 && elements.now == 0)
            #expect(world.events.names.isEmpty)
        }
    }

    @Test("CON-6: never more than the limit at a time, and every result once")
    func limits() async throws {
        try await inManyWorlds { world in
            var random = Ambient.current.random
            let limit = Int.random(in: 1...9, using: &random)
            let count = Int.random(in: 0...40, using: &random)
            let order: ResultOrder = Bool.random(using: &random) ? .input : .completion
            let delays = (0..<count).map { _ in Int.random(in: 0...3, using: &random) }
            let census = Census()
            let results = try await mapConcurrent(delays.indices, limit: limit, order: order) {
                index in
                census.enter()
                defer { census.leave() }
                try await world.clock.sleep(for: .seconds(delays[index]))
                return index
            }
            #expect(order == .input ? results == Array(0..<count) : Set(results) == Set(0..<count))
            #expect(results.count == count && census.most <= limit && census.now == 0)
            #expect(world.events.names.isEmpty)
        }
    }

    @Test("CON-7: a defect among the failures is in the list, and reported at error level")
    func defect() async throws {
        try await inManyWorlds { world in
            let error = await failure {
                try await forEachConcurrent(0..<4, limit: 4, onFailure: .collect) { number in
                    if number == 2 { throw Blunder() }
                    if number > 2 { throw Trouble() }
                }
            }
            let all = (error as? ConcurrentFailure<any Error>)?.all
            #expect(all?.count == 2 && all?.contains { $0 is Blunder } == true)
            #expect(world.events.names == ["defect.thrown"])
            #expect(world.details(.defectThrown, "index") == [.integer(2)])
            #expect(world.events.events.first?.level == .error)
        }
    }

    @Test("CON-8: a sibling that ignores its cancellation does not hold the failure back")
    func abandoned() async throws {
        try await inPunctualWorlds { world in
            let error = await failure {
                _ = try await gather(
                    { throw Trouble(number: 1) },
                    { await world.ignoringCancellation(.seconds(100)) },
                    losersWithin: .seconds(2))
            }
            #expect((error as? ConcurrentFailure<any Error>)?.all.count == 1)
            #expect(world.clock.now.sinceOrigin <= .seconds(2))
            // It may not have begun when it was cancelled; it ignores that as well.
            #expect(AbandonedWork.inProcess == 1)
            #expect(world.events.names == ["deadline.abandoned", "map.cancelledSiblings"])
        }
    }

    @Test("CON-10: a cancellation of the work's own stops the rest, and comes out alone")
    func ownCancellation() async throws {
        try await inPunctualWorlds { world in
            let census = Census()
            let error = await failure {
                try await forEachConcurrent(0..<9, limit: 2) { number in
                    census.enter()
                    if number == 0 { throw CancellationError() }
                    try await world.clock.sleep(for: .seconds(9))
                }
            }
            #expect(error is CancellationError && census.total == 2)
            #expect(world.clock.now.sinceOrigin == .zero)
            #expect(world.events.names == ["map.cancelledSiblings"])
        }
    }

    @Test("CON-13: a caller that is cancelled already begins nothing")
    func alreadyCancelled() async throws {
        try await inManyWorlds { world in
            let census = Census()
            let task = spawn { () async -> [(any Error)?] in
                cancelCurrentTask()
                let one = await failure { try await race({ census.enter() }, { census.enter() }) }
                let two = await failure {
                    try await forEachConcurrent([1], limit: 1) { _ in census.enter() }
                }
                let three = await failure { try await gather({ census.enter() }) }
                return [one, two, three]
            }
            #expect(await task.value.allSatisfy { $0 is CancellationError })
            #expect(census.total == 0 && world.events.names == [])
        }
    }

    @Test("CON-14: nothing to do is done at once")
    func empty() async throws {
        try await inManyWorlds(5) { world in
            let nothing = try await mapConcurrent([Int](), limit: 3) { "\($0)" }
            #expect(nothing == [] && world.events.names == [])
        }
    }

    @Test("typed failures keep their type, and the siblings' cause is that one failed")
    func typed() async throws {
        try await inPunctualWorlds { world in
            let cause = Mutex<CancellationCause?>(nil)
            let body = { @Sendable (number: Int) async throws(Trouble) -> Int in
                if number == 0 { throw Trouble(number: 4) }
                do { try await world.clock.sleep(for: .seconds(5)) } catch {
                    cause.withLock { $0 = Cancellation.cause }
                }
                return number
            }
            let error = await failure { _ = try await mapConcurrent(0..<2, limit: 2, body) }
            #expect((error as? ConcurrentFailure<Trouble>)?.all == [Trouble(number: 4)])
            #expect(cause.withLock { $0 } == .siblingFailed)
        }
    }
}

/// An element that counts how many of it there are.
private final class Counted: Sendable {
    private let census: Census
    init(_ census: Census) {
        self.census = census
        census.enter()
    }
    func touch() {}
    deinit { census.leave() }
}
