import StoicTesting
import Synchronization
import Testing

@testable import Stoic

/// Owners of work judge it by a clock of their own when they are given one, while the work itself
/// keeps the ambient one: here it stands still.
@Suite("A clock that is given to an owner of work", .timeLimit(.minutes(5)))
struct GivenClockTests {
    @Test("AMB-6: the end of a scope")
    func scope() async throws {
        try await simulate { world in
            let other = JumpingClock(world.clock)
            await withScope("s", clock: other) { (scope: borrowing Scope) in
                scope.onExit("slow") { _ in
                    other.jump(by: .seconds(60))
                    try await workPolitely(.seconds(4))
                }
            }
            #expect(world.clock.now.sinceOrigin == .zero)
            #expect(world.events.names.contains("scope.finalizerTimedOut"))
        }
    }

    @Test("AMB-6: the restarts of a supervisor, and its stops")
    func supervisor() async throws {
        try await simulate { world in
            let other = JumpingClock(world.clock)
            let runs = Atomic<Int>(0)
            let again = Completion<Void>()
            var rules = Supervision()
            rules.backoff = .spaced(.seconds(1_000))
            try await withSupervisor("s", rules, clock: other) {
                (supervisor: borrowing Supervisor) in
                try supervisor.add(
                    ChildSpec("c") {
                        guard runs.add(1, ordering: .relaxed).newValue == 2 else {
                            throw OwnError()
                        }
                        again.fulfil(())
                        await Cancellation.wait()
                        // It takes no time of the ambient clock to be left behind either.
                        other.jump(by: .seconds(60))
                        await workStubbornly(.seconds(60))
                    })
                await world.settle()
                // It runs again when its delay has passed on the other clock.
                other.jump(by: .seconds(1_000))
                _ = await again.wait()
            }
            // Who sleeps on the other clock looks once a second.
            #expect(world.clock.now.sinceOrigin <= .seconds(2))
            #expect(world.events.names.contains("supervisor.childAbandoned"))
            try await world.clock.sleep(for: .seconds(61))
        }
    }

    @Test("AMB-6: the limits of a graph")
    func graph() async throws {
        try await simulate { world in
            let other = JumpingClock(world.clock)
            let graph = try ServiceGraph(label: "g") {
                Provide(GraphFixture.a, startTimeout: .seconds(30)) { _ in
                    #expect(Ambient.current.deadline?.remaining == .seconds(30))
                    other.jump(by: .seconds(60))
                    try await workPolitely(.seconds(20))
                    return 1
                }
            }
            let failure = await #expect(throws: ServiceGraphError.self) {
                try await graph.run(clock: other) { _ in }
            }
            guard case .startFailed(let start)? = failure else {
                Issue.record("ended with \(String(describing: failure))")
                return
            }
            #expect(start.underlying as? DeadlineExceeded == DeadlineExceeded(limit: .seconds(30)))
            #expect(world.clock.now.sinceOrigin == .zero)
        }
    }

    /// A call that waits 1,000 seconds of the clock it is given.
    struct Call: Sendable, CustomStringConvertible {
        let description: String
        let run: @Sendable (JumpingClock) async throws -> Void

        init(_ name: String, _ run: @escaping @Sendable (JumpingClock) async throws -> Void) {
            description = name
            self.run = run
        }
    }

    private static let long = Duration.seconds(1_000)

    static let calls = [
        Call("retry") { other in
            let tries = Atomic<Int>(0)
            try await retry(.spaced(long), attempts: 2, clock: other) { _ in
                if tries.add(1, ordering: .relaxed).newValue == 1 { throw OwnError() }
            }
        },
        Call("race") { other in
            let first = try await race(
                { 1 },
                {
                    await workStubbornly(.seconds(500))
                    return 2
                }, losersWithin: long, clock: other)
            #expect(first == 1)
        },
        Call("mapConcurrent") { other in
            await #expect(throws: ConcurrentFailure<any Error>.self) {
                try await mapConcurrent([1, 2], limit: 2, losersWithin: long, clock: other) {
                    if $0 == 1 { throw OwnError() }
                    await workStubbornly(.seconds(500))
                }
            }
        },
        Call("forEachConcurrent") { other in
            await #expect(throws: ConcurrentFailure<any Error>.self) {
                try await forEachConcurrent([1, 2], limit: 2, losersWithin: long, clock: other) {
                    if $0 == 1 { throw OwnError() }
                    await workStubbornly(.seconds(500))
                }
            }
        },
        Call("Timeout") { other in
            await #expect(throws: (any Error).self) {
                try await Timeout(long).run(clock: other) {
                    try await workPolitely(.seconds(5_000))
                }
            }
        },
        Call("Pipeline") { other in
            let tries = Atomic<Int>(0)
            try await Pipeline().retry(.spaced(long), attempts: 2).run(clock: other) {
                if tries.add(1, ordering: .relaxed).newValue == 1 { throw OwnError() }
            }
        },
        Call("RateLimiter") { other in
            let limiter = RateLimiter(
                rate: 1, per: long, burst: 1, excess: .wait(max: long), clock: other)
            try await limiter.run {}
            try await limiter.run {}
        },
    ]

    @Test("AMB-6: every call waits on the clock it is given", arguments: calls)
    func everyCall(call: Call) async throws {
        try await simulate { world in
            let other = JumpingClock(world.clock)
            let jump = spawn {
                await world.settle()
                other.jump(by: .seconds(2_000))
            }
            try await call.run(other)
            await jump.value
            // Who sleeps on the other clock looks once a second.
            #expect(world.clock.now.sinceOrigin <= .seconds(2))
            try await world.clock.sleep(for: .seconds(600))
        }
    }
}
