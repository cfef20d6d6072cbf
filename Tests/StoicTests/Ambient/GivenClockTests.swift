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
}
