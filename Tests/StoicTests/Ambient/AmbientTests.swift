import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("Ambient", .timeLimit(.minutes(20)))
struct AmbientTests {
    /// What marks the surroundings of a test.
    private static var seed: RandomSource { Ambient.current.random }

    @Test(
        "AMB-1: children, group children, shields, forks: as their parent, silent as none decides")
    func inherited() async throws {
        try await simulate { world in
            try await withAmbient {
                $0.random = .seeded(99)
            } operation: {
                async let child = Self.seed
                #expect(await child == .seeded(99))
                await withTaskGroup { group in
                    group.addTask { #expect(Self.seed == .seeded(99)) }
                }
                await shielded { #expect(Self.seed == .seeded(99)) }
                #expect(await spawn { Self.seed }.value == .seeded(99))
                await withDeadline(.in(.seconds(5))) { #expect(Self.seed == .seeded(99)) }
                let forked = Mutex<RandomSource?>(nil)
                try await withScope("fork") { (scope: borrowing Scope) in
                    scope.fork("child") { forked.withLock { $0 = Self.seed } }
                    try await world.clock.sleep(for: .seconds(1))
                }
                #expect(forked.withLock { $0 } == .seeded(99))
            }
            #expect(Self.seed != .seeded(99))
            #expect(world.events.names.allSatisfy { $0.hasPrefix("scope.") })
        }
    }

    @Test("AMB-2: rebound inside a group's body: children added there see it, silent")
    func reboundInGroup() async throws {
        try await simulate { world in
            await withTaskGroup { group in
                await withAmbient {
                    $0.random = .seeded(99)
                } operation: {
                    group.addTask { #expect(Self.seed == .seeded(99)) }
                    await Task.yield()
                }
                group.addTask { #expect(Self.seed != .seeded(99)) }
            }
            #expect(world.events.names == [])
        }
    }

    @Test("AMB-4: two tasks draw at one site under one seed: the same numbers each, silent")
    func oneSite() async throws {
        @Sendable func draw() async -> [UInt64] {
            var random = Ambient.current.random.stream()
            var numbers: [UInt64] = []
            for _ in 0..<4 {
                numbers.append(random.next())
                await Task.yield()
            }
            return numbers
        }
        var seen: Set<[UInt64]> = []
        for order: UInt64 in 0..<20 {
            try await simulate(seed: order, order: .uniform) { world in
                await withAmbient {
                    $0.random = .seeded(5)
                } operation: {
                    async let first = draw()
                    async let second = draw()
                    let (one, two) = await (first, second)
                    #expect(one == two)
                }
                #expect(world.events.names == [])
            }
            seen.insert(
                await withAmbient {
                    $0.random = .seeded(5)
                } operation: {
                    await draw()
                })
        }
        #expect(seen.count == 1)
    }

    @Test("AMB-5: a budget drained in one test is full in the next")
    func budgets() async throws {
        for _ in 0..<2 {
            try await simulate { world in
                let budget = Ambient.current.budgets.named("dependency")
                #expect(budget.remaining == RetryBudget.Prices().capacity)
                while budget.withdraw(afterTimeout: false) != nil {}
                #expect(Ambient.current.budgets.named("dependency").remaining == 0)
                #expect(world.events.names == ["budget.exhausted"])
            }
        }
    }

    @Test("AMB-6: a clock that is given overrides the ambient one for that call alone")
    func givenClock() async throws {
        try await simulate { world in
            let other = JumpingClock(world.clock)
            // A clock that is erased already keeps its time.
            let limit = Deadline.in(.seconds(9), clock: AnyClock(world.ambientClock))
            #expect(limit.earlier(than: .in(.seconds(5))).remaining == .seconds(5))
            let result = await outcome {
                try await withTimeout(.seconds(5), clock: other) {
                    other.jump(by: .seconds(60))
                    #expect(Ambient.current.clock.now.sinceOrigin == .zero)
                    try await workPolitely(.seconds(4))
                    return 7
                }
            }
            #expect(result == .exceeded(DeadlineExceeded(limit: .seconds(5))))
            #expect(world.clock.now.sinceOrigin == .zero)
            #expect(world.events.names == ["deadline.expired"])
        }
    }

    @Test("withAmbient: on the caller's actor, a result and an error of the operation's own kind")
    @MainActor func plain() async {
        final class Counter { var count = 0 }
        let counter = Counter()
        let same = await withAmbient {
            $0.random = .seeded(1)
        } operation: {
            MainActor.assertIsolated()
            counter.count += 1
            return counter
        }
        #expect(same === counter)
        do throws(OwnError) {
            try await withAmbient { _ in
            } operation: { () async throws(OwnError) in
                throw OwnError(number: 2)
            }
        } catch {
            #expect(error.number == 2)
        }
    }
}
