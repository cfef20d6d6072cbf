import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("ServiceGraph, stops that are asked for", .timeLimit(.minutes(5)))
struct GraphStopRequestTests {
    typealias Fix = GraphFixture

    @Test("GRA-16: a stop asked for before the run, during the start, and twice")
    func requestStop() async throws {
        try await inPunctualWorlds(30) { world in
            let fix = GraphFixture(world: world)
            let early = try ServiceGraph(label: "g") { fix.service(Fix.a) }
            early.requestStop(cause: .signal(15))
            let error = try await failure(of: ServiceGraphError.self) {
                try await early.run { _ in fix.log.note("body") }
            }
            guard case .stoppedBeforeStart(.signal(15)) = error else {
                Issue.record("not \(String(describing: error))")
                return
            }
            #expect(fix.log.lines.isEmpty)
            #expect(world.events.names.isEmpty)

            let graph = try ServiceGraph(label: "g") { fix.service(Fix.a, takes: 5) }
            let task = spawn { () -> String in
                do {
                    try await graph.run { _ in fix.log.note("body") }
                    return "ran"
                } catch { return "\(error)" }
            }
            try await world.clock.sleep(for: .seconds(1))
            graph.requestStop(cause: .signal(15))
            graph.requestStop(cause: .requested)
            #expect(await task.value == "stopped before it was up (signal 15): nothing ran")
            #expect(fix.log.lines == ["start a", "cancelled a: signal 15"])
            #expect(world.events.names.filter { $0 == "graph.stopping" }.count == 1)
        }
    }

    @Test("GRA-16: a start that is cancelled asks for the stop, and for force, as it hears of it")
    func requestFromWithin() async throws {
        try await inPunctualWorlds(30) { world in
            let graphs = Mutex<ServiceGraph?>(nil)
            let graph = try ServiceGraph(label: "g") {
                Provide(Fix.a) { _ in
                    try await withTaskCancellationHandler {
                        try await world.clock.sleep(for: .seconds(9))
                        return 1
                    } onCancel: {
                        let graph = graphs.withLock { $0 }
                        graph?.requestStop(cause: .signal(2))
                        graph?.force()
                    }
                }
            }
            graphs.withLock { $0 = graph }
            let task = spawn { () -> String in
                do {
                    try await graph.run { _ in }
                    return "ran"
                } catch { return "\(error)" }
            }
            try await world.clock.sleep(for: .seconds(1))
            graph.requestStop(cause: .signal(15))
            #expect(await task.value == "stopped before it was up (signal 15): nothing ran")
        }
    }

    @Test("GRA-16: a stop asked for while the body runs cancels it, with the cause")
    func requestStopOfBody() async throws {
        try await inPunctualWorlds(30) { world in
            let fix = GraphFixture(world: world)
            let graph = try ServiceGraph(label: "g") { fix.service(Fix.a) }
            let task = spawn { () -> String in
                do {
                    return try await graph.run { _ in
                        do { try await world.clock.sleep(for: .seconds(100)) } catch {
                            return "\(Cancellation.cause?.description ?? "none")"
                        }
                        return "slept"
                    }
                } catch { return "\(error)" }
            }
            try await world.clock.sleep(for: .seconds(3))
            graph.requestStop(cause: .signal(15))
            #expect(await task.value == "signal 15")
            #expect(fix.log.lines.last == "down a")
            #expect(fix.log.lines.contains("stop a: cancelled: signal 15"))
        }
    }

    @Test("GRA-18: work that fails cancels the body, everything stops, and the error comes out")
    func failingWork() async throws {
        try await inPunctualWorlds(30) { world in
            let fix = GraphFixture(world: world)
            let graph = try ServiceGraph(label: "g") {
                Provide(
                    Fix.a,
                    work: { _ in
                        try await world.clock.sleep(for: .seconds(3))
                        throw Broken(what: "work")
                    }, start: { _ in 1 },
                    stop: { _, exit in fix.log.note("stop a: \(exit.summary)") })
                fix.service(Fix.b, needs: [Fix.a])
            }
            let thrown = try await failure(of: Broken.self) {
                try await graph.run { _ in
                    do { try await world.clock.sleep(for: .seconds(100)) } catch {
                        fix.log.note("body: \(Cancellation.cause?.description ?? "none")")
                        throw error
                    }
                }
            }
            #expect(thrown == Broken(what: "work"))
            #expect(
                fix.log.lines == [
                    "start b", "up b", "body: work beside it failed", "stop b: failure", "down b",
                    "stop a: failure",
                ])
            #expect(world.events.names.contains("service.workFailed"))
        }
    }

    @Test("GRA-18: a supervisor that is a service's work escalates: the graph ends with its error")
    func escalatingWork() async throws {
        try await inPunctualWorlds(30) { world in
            let fix = GraphFixture(world: world)
            let graph = try ServiceGraph(label: "g") {
                Provide(
                    Fix.a, work: { _ in try await superviseBad(world) }, start: { _ in 1 },
                    stop: { _, exit in fix.log.note("stop a: \(exit.summary)") })
                fix.service(Fix.b, needs: [Fix.a])
            }
            let thrown = try await failure(of: SupervisorError.self) {
                try await graph.run { _ in
                    do { try await world.clock.sleep(for: .seconds(100)) } catch {
                        fix.log.note("body: \(Cancellation.cause?.description ?? "none")")
                        throw error
                    }
                }
            }
            guard case .intensityExceeded(child: "bad", let history) = thrown else {
                Issue.record("not \(String(describing: thrown))")
                return
            }
            #expect(history.count == 3)
            #expect(
                fix.log.lines == [
                    "start b", "up b", "body: work beside it failed", "stop b: failure", "down b",
                    "stop a: failure",
                ])
            try world.events.expectTrace(
                [
                    "supervisor.intensityExceeded", "service.workFailed", "graph.stopping",
                    .event("service.stopped", ["service": "b"]),
                    .event("service.stopped", ["service": "a"]), "graph.stopped",
                ], .inOrder)
        }
        /// Ends with the third failure of its child.
        @Sendable func superviseBad(_ world: SimulatedWorld) async throws {
            let rules = Supervision(intensity: SupervisionIntensity(2, in: .seconds(30)))
            try await withSupervisor("s", rules) { (supervisor: borrowing Supervisor) in
                try supervisor.add(
                    ChildSpec("bad") {
                        try await world.clock.sleep(for: .seconds(2))
                        throw Broken(what: "bad")
                    })
                await supervisor.waitForEnd()
            }
        }
    }

    @Test("GRA-18: work is cancelled and awaited before its service stops")
    func workEnds() async throws {
        try await inPunctualWorlds(30) { world in
            let log = Log()
            let graph = try ServiceGraph(label: "g") {
                Provide(
                    Fix.a,
                    work: { _ in
                        do { try await world.clock.sleep(for: .seconds(1_000)) } catch {
                            log.note("work: \(Cancellation.cause?.description ?? "none")")
                        }
                    }, start: { _ in 1 }, stop: { _, _ in log.note("stop") })
            }
            try await graph.run { _ in try await world.clock.sleep(for: .seconds(1)) }
            #expect(log.lines == ["work: its supervisor stops", "stop"])
            #expect(!world.events.names.contains("service.workFailed"))
        }
    }
}
