import StoicTesting
import Testing

@testable import Stoic

@Suite("ServiceGraph, clocks and shielded stops", .timeLimit(.minutes(5)))
struct GraphClockTests {
    typealias Fix = GraphFixture

    @Test("GRA-23: the machine sleeps while a service starts: a deadline passes, its timeout not")
    func sleepOfTheMachine() async throws {
        try await simulate { world in
            let fix = GraphFixture(world: world)
            let graph = try ServiceGraph(label: "g") {
                Provide(Fix.a) { _ in
                    await withDeadline(.in(.seconds(100))) {
                        fix.log.note("cut: \(await Cancellation.wait())")
                    }
                    // 30 s awake are its limit, and 21 of them are left.
                    try await world.awakeClock.sleep(for: .seconds(20))
                    return 1
                } stop: { _, _ in
                    world.sleepMachine(for: .seconds(600))
                    try await world.awakeClock.sleep(for: .seconds(9))
                    fix.log.note("stopped")
                }
            }
            let run = spawn { () -> String in
                do {
                    return try await withAmbient {
                        $0.livenessClock = world.awakeClock
                    } operation: {
                        try await graph.run { _ in "ran" }
                    }
                } catch { return "\(error)" }
            }
            try await world.clock.sleep(for: .seconds(9))
            world.sleepMachine(for: .seconds(600))
            #expect(await run.value == "ran")
            #expect(fix.log.lines == ["cut: deadline expired", "stopped"])
            #expect(world.events.names.filter { $0 == "deadline.expired" }.count == 1)
            #expect(world.clock.now.sinceOrigin == .seconds(609 + 20 + 600 + 9))
        }
    }

    @Test("SCO-2: a stop of a cancelled run sleeps, groups and bounds its own work, as a finalizer")
    func stopsAreShielded() async throws {
        try await simulate { world in
            let fix = GraphFixture(world: world)
            let graph = try ServiceGraph(label: "g") {
                Provide(Fix.a) { _ in
                    1
                } stop: { _, _ in
                    try await world.clock.sleep(for: .seconds(1))
                    await withTaskGroup { group in
                        for _ in 0..<3 {
                            group.addTask { fix.log.note("cancelled \(Task.isCancelled)") }
                        }
                    }
                    try await fix.log.noteBounds(world)
                }
            }
            let run = spawn {
                do {
                    try await graph.run { _ in try await world.clock.sleep(for: .seconds(100)) }
                } catch { fix.log.note("\(error is CancellationError)") }
            }
            try await world.clock.sleep(for: .seconds(2))
            run.cancel()
            await run.value
            let expected = Array(repeating: "cancelled false", count: 3)
            #expect(fix.log.lines == expected + Log.bounds(from: .seconds(3)) + ["true"])
            let notices = world.events.events.filter { $0.level > .info }
            #expect(notices.map(\.name) == [.deadlineExpired])
        }
    }

    @Test("SCO-3: a stop that hangs is cut, one that ignores that is left behind; the next runs")
    func hangingStops() async throws {
        try await simulate { world in
            let fix = GraphFixture(world: world)
            let never = Completion<Void>()
            let graph = try ServiceGraph(label: "g") {
                Provide(Fix.a) { _ in
                    1
                } stop: { _, _ in
                    fix.log.note("last at \(world.clock.now.sinceOrigin)")
                }
                Provide(Fix.b, needs: [Fix.a.any], stopTimeout: .seconds(5)) { _ in
                    1
                } stop: { _, _ in
                    try await world.clock.sleep(for: .seconds(100))
                }
                Provide(Fix.c, needs: [Fix.b.any], stopTimeout: .seconds(5)) { _ in
                    1
                } stop: { _, _ in
                    await shielded { _ = await never.wait() }
                }
            }
            try await graph.run { _ in }
            #expect(fix.log.lines == ["last at \(Duration.seconds(11))"])
            #expect(AbandonedWork.inProcess == 1)
            never.fulfil(())
            try await world.clock.sleep(for: .seconds(1))
            #expect(AbandonedWork.inProcess == 0)
        }
    }
}
