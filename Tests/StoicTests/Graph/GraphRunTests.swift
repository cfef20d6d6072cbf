import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("ServiceGraph, starting and stopping", .timeLimit(.minutes(5)))
struct GraphRunTests {
    typealias Fix = GraphFixture

    @Test("GRA-1: a diamond starts as its needs allow, and stops in the reverse of completions")
    func diamond() async throws {
        try await inPunctualWorlds(30) { world in
            let fix = GraphFixture(world: world)
            let graph = try ServiceGraph(label: "g") {
                fix.service(Fix.d, needs: [Fix.b, Fix.c])
                fix.service(Fix.b, needs: [Fix.a], takes: 3)
                fix.service(Fix.c, needs: [Fix.a], takes: 2)
                fix.service(Fix.a)
            }
            #expect(graph.startOrder == [Fix.a.any, Fix.b.any, Fix.c.any, Fix.d.any])
            let sum = try await graph.run { services in
                fix.log.note("body at \(world.clock.now.sinceOrigin)")
                return services[Fix.a] + services[Fix.d]
            }
            #expect(sum == 2)
            let lines = fix.log.lines
            // These two are of one moment.
            #expect(lines[2...3].sorted() == ["start b", "start c"])
            #expect(
                lines[..<2] + lines[4...] == [
                    "start a", "up a", "up c", "up b", "start d", "up d",
                    "body at \(Duration.seconds(5))",
                    "stop d: success", "down d", "stop b: success", "down b", "stop c: success",
                    "down c", "stop a: success", "down a",
                ])
            try world.events.expectTrace(chains: [
                ["graph.starting", "graph.started", "graph.stopping", "graph.stopped"],
                told("service.starting", of: "a", "b", "d"),
                told("service.starting", of: "a", "c", "d"),
                told("service.started", of: "a", "c", "b", "d"),
                told("service.stopping", of: "d", "b", "c", "a"),
                told("service.stopped", of: "d", "b", "c", "a"),
            ])
            #expect(world.clock.sleeperCount == 0)
        }
    }

    /// The same event of several services, in this order.
    private func told(_ name: String, of services: String...) -> [ExpectedEvent] {
        services.map { .event(name, ["service": $0]) }
    }

    @Test("GRA-2: two keys of one type are two services")
    func twoOfOneType() async throws {
        try await inPunctualWorlds(30) { world in
            let fix = GraphFixture(world: world)
            let graph = try ServiceGraph(label: "g") {
                fix.service(Fix.a, takes: 1)
                fix.service(Fix.b, takes: 2)
            }
            let both = try await graph.run { [$0[Fix.a], $0[Fix.b]] }
            #expect(both == [1, 2])
            // They come and go; nobody is warned of anything.
            #expect(world.events.events.allSatisfy { $0.level == .info })
        }
    }

    @Test("GRA-3: one name with two types are two services, and a notice")
    func oneNameTwoTypes() async throws {
        try await inPunctualWorlds(30) { world in
            let text = ServiceKey<String>("a")
            let fix = GraphFixture(world: world)
            let graph = try ServiceGraph(label: "g") {
                fix.service(Fix.a)
                Provide(text, needs: [Fix.a.any]) { services in "\(services[Fix.a])" }
            }
            #expect(world.events.names == ["graph.sameNameDifferentType"])
            let both = try await graph.run { "\($0[text]) \($0[Fix.a])" }
            #expect(both == "1 1")
        }
    }

    @Test("GRA-6: a start that fails cancels the others, stops what is up, and is named")
    func failingStart() async throws {
        try await inPunctualWorlds(30) { world in
            let fix = GraphFixture(world: world)
            let graph = try ServiceGraph(label: "g") {
                fix.service(Fix.a)
                fix.failing(Fix.b, needs: [Fix.a], Broken(what: "b"))
                fix.service(Fix.c, needs: [Fix.a], takes: 5)
                fix.service(Fix.d, needs: [Fix.b])
            }
            let error = try await failure(of: ServiceGraphError.self) {
                try await graph.run { _ in fix.log.note("body") }
            }
            let start = try #require(error?.startFailure)
            #expect(start.key == Fix.b.any)
            #expect(start.underlying as? Broken == Broken(what: "b"))
            #expect(start.alsoFailed.isEmpty)
            #expect(start.stopped == [Fix.a.any])
            #expect(
                fix.log.lines == [
                    "start a", "up a", "start c", "cancelled c: work beside it failed",
                    "stop a: failure", "down a",
                ])
            #expect(world.events.names.contains("service.startFailed"))
            #expect(world.events.names.contains("service.startCancelled"))
        }
    }

    @Test("GRA-7: a start that takes too long is cancelled, with its deadline as the cause")
    func startTimeout() async throws {
        try await inPunctualWorlds(30) { world in
            let fix = GraphFixture(world: world)
            let graph = try ServiceGraph(label: "g") {
                fix.service(Fix.a)
                fix.service(Fix.b, needs: [Fix.a], takes: 100)
            }
            let error = try await failure(of: ServiceGraphError.self) {
                try await graph.run { _ in }
            }
            let start = try #require(error?.startFailure)
            #expect(start.underlying as? DeadlineExceeded == DeadlineExceeded(limit: .seconds(30)))
            #expect(fix.log.lines.contains("cancelled b: deadline expired"))
            #expect(fix.log.lines.last == "down a")
            #expect(world.clock.now.sinceOrigin == .seconds(32))
            #expect(world.events.names.contains("service.startTimedOut"))
        }
    }

    @Test("GRA-8: a start that ignores its cancellation is left behind; what it returns is stopped")
    func lateStart() async throws {
        try await inPunctualWorlds(30) { world in
            let fix = GraphFixture(world: world)
            let release = Completion<Void>()
            let graph = try ServiceGraph(label: "g") {
                Provide(Fix.a, startTimeout: .seconds(2)) { _ in
                    await shielded { _ = await release.wait() }
                    return 1
                } stop: { _, exit in
                    fix.log.note("stop a: \(exit.summary)")
                }
            }
            _ = try await failure(of: ServiceGraphError.self) { try await graph.run { _ in } }
            #expect(world.clock.now.sinceOrigin == .seconds(13))
            #expect(fix.log.lines.isEmpty)
            #expect(world.events.names.contains("service.stopAbandoned"))
            release.fulfil(())
            try await world.clock.sleep(for: .seconds(1))
            #expect(fix.log.lines == ["stop a: failure"])
            #expect(world.events.names.contains("service.lateStart"))
        }
    }

    @Test("GRA-9: of two starts that fail the first is the culprit, the other is kept")
    func twoFail() async throws {
        try await inPunctualWorlds(30) { world in
            let fix = GraphFixture(world: world)
            let graph = try ServiceGraph(label: "g") {
                fix.failing(Fix.a, Broken(what: "a"))
                Provide(Fix.b) { _ in
                    do { try await world.clock.sleep(for: .seconds(9)) } catch {
                        throw Broken(what: "b")
                    }
                    return 1
                }
            }
            let error = try await failure(of: ServiceGraphError.self) {
                try await graph.run { _ in }
            }
            let start = try #require(error?.startFailure)
            #expect(start.key == Fix.a.any)
            #expect(start.alsoFailed.map(\.key) == [Fix.b.any])
            #expect(start.alsoFailed.first?.error as? Broken == Broken(what: "b"))
            #expect(world.events.names.filter { $0 == "service.startFailed" }.count == 2)
        }
    }

    @Test("GRA-10: a body that throws, or is cancelled, is followed by every stop, told why")
    func bodyEnds() async throws {
        try await inPunctualWorlds(30) { world in
            let fix = GraphFixture(world: world)
            let graph = try ServiceGraph(label: "g") { fix.service(Fix.a) }
            let thrown = try await failure(of: Broken.self) {
                try await graph.run { _ in throw Broken(what: "body") }
            }
            #expect(thrown == Broken(what: "body"))
            let task = spawn { () -> Bool in
                do {
                    try await graph.run { _ in try await world.clock.sleep(for: .seconds(100)) }
                    return false
                } catch { return error is CancellationError }
            }
            try await world.clock.sleep(for: .seconds(5))
            task.cancel()
            #expect(await task.value)
            #expect(
                fix.log.lines.filter { $0.hasPrefix("stop") } == [
                    "stop a: failure", "stop a: cancelled: requested",
                ])
            try world.events.expectTrace(
                [
                    "graph.stopping", "service.stopped", "graph.stopped",
                    "graph.stopping", "service.stopped", "graph.stopped",
                ], .inOrder)
        }
    }

    @Test("GRA-21: a start and a stop are told how long they have, though the clocks are two")
    func remaining() async throws {
        try await inPunctualWorlds(30) { world in
            let told = Mutex<[Duration?]>([])
            let key = ServiceKey<Int>("a")
            let graph = try ServiceGraph(label: "g") {
                Provide(key, startTimeout: .seconds(7), stopTimeout: .seconds(3)) { _ in
                    told.withLock { $0.append(Deadline.current?.remaining) }
                    return 1
                } stop: { _, _ in
                    told.withLock { $0.append(Deadline.current?.remaining) }
                }
            }
            try await withAmbient {
                $0.livenessClock = AnyClock(world.clock)
            } operation: {
                try await graph.run { _ in }
            }
            #expect(told.withLock { $0 } == [.seconds(7), .seconds(3)])
            #expect(world.events.names.first == "graph.starting")
        }
    }

    @Test(
        "GRA-10: a body that ends well because it was cancelled is followed by stops that hear so")
    func bodyObeys() async throws {
        try await inPunctualWorlds(30) { world in
            let fix = GraphFixture(world: world)
            let graph = try ServiceGraph(label: "g") { fix.service(Fix.a) }
            let cause = try await withDeadline(.in(.seconds(5))) {
                try await graph.run { _ in await Cancellation.wait() }
            }
            #expect(cause == .deadlineExpired)
            #expect(fix.log.lines.contains("stop a: cancelled: deadline expired"))
            #expect(world.events.names.contains("graph.stopped"))
        }
    }

    @Test("GRA-11: a stop that hangs is cut and left behind; the next one runs, within the budget")
    func hangingStop() async throws {
        try await inPunctualWorlds(30) { world in
            let fix = GraphFixture(world: world)
            let never = Completion<Void>()
            let graph = try ServiceGraph(label: "g") {
                fix.service(Fix.a)
                Provide(Fix.b, needs: [Fix.a.any]) { _ in
                    1
                } stop: { _, _ in
                    await shielded { _ = await never.wait() }
                }
                Provide(Fix.c, needs: [Fix.b.any]) { _ in
                    1
                } stop: { _, _ in
                    try await world.clock.sleep(for: .seconds(1_000))
                }
            }
            try await graph.run(exitBudget: .seconds(30), stopTimeout: .seconds(10)) { _ in }
            // c was cut after 10 s, b left behind 11 s later, then a stopped.
            #expect(world.clock.now.sinceOrigin == .seconds(1 + 10 + 11 + 1))
            #expect(fix.log.lines.last == "down a")
            let names = world.events.names
            #expect(names.filter { $0 == "service.stopTimedOut" }.count == 2)
            #expect(names.filter { $0 == "service.stopAbandoned" }.count == 1)
            never.fulfil(())
        }
    }

    @Test("GRA-12: a stop that throws is reported, and hides nothing")
    func throwingStop() async throws {
        try await inPunctualWorlds(30) { world in
            let fix = GraphFixture(world: world)
            let graph = try ServiceGraph(label: "g") {
                fix.service(Fix.a)
                Provide(Fix.b, needs: [Fix.a.any]) { _ in
                    1
                } stop: { _, _ in
                    throw Broken(what: "stop")
                }
            }
            #expect(try await graph.run { _ in 7 } == 7)
            let thrown = try await failure(of: Broken.self) {
                try await graph.run { _ in throw Broken(what: "body") }
            }
            #expect(thrown == Broken(what: "body"))
            #expect(world.events.names.filter { $0 == "service.stopFailed" }.count == 2)
            #expect(fix.log.lines.last == "down a")
        }
    }

    @Test("GRA-13: a caller cancelled during the start rolls back; during the stop nothing changes")
    func cancelledCaller() async throws {
        for seconds in [1, 4, 5, 6, 7] {
            try await inPunctualWorlds(30) { world in
                let fix = GraphFixture(world: world)
                let graph = try ServiceGraph(label: "g") {
                    fix.service(Fix.a, takes: 2)
                    fix.service(Fix.b, needs: [Fix.a], takes: 2)
                }
                let task = spawn { () -> Bool in
                    do {
                        try await graph.run { _ in }
                        return true
                    } catch { return !(error is CancellationError) }
                }
                try await world.clock.sleep(for: .milliseconds(seconds * 1_000 - 500))
                task.cancel()
                let ranToItsEnd = await task.value
                #expect(ranToItsEnd == (seconds > 4))
                let starts = fix.log.lines.filter { $0.hasPrefix("up") }.count
                let stops = fix.log.lines.filter { $0.hasPrefix("down") }.count
                #expect(starts == stops)
                let names = world.events.names
                #expect(names.contains("service.startCancelled") == (seconds <= 4))
            }
        }
    }

    @Test("GRA-14: a graph runs twice at once, and the runs do not touch")
    func twice() async throws {
        try await inPunctualWorlds(30) { world in
            let made = Mutex(0)
            let graph = try ServiceGraph(label: "g") {
                Provide(Fix.a) { _ in
                    made.withLock { made in
                        made += 1
                        return made
                    }
                }
            }
            let one = spawn { await number(of: graph, world) }
            let two = spawn { await number(of: graph, world) }
            let numbers = await [one.value, two.value]
            #expect(numbers.sorted() == [1, 2])
            #expect(world.events.names.filter { $0 == "graph.stopped" }.count == 2)
        }
        @Sendable func number(of graph: ServiceGraph, _ world: SimulatedWorld) async -> Int {
            do {
                return try await graph.run { services in
                    try await world.clock.sleep(for: .seconds(1))
                    return services[Fix.a]
                }
            } catch { return 0 }
        }
    }

    @Test("GRA-15: a graph without services runs its body")
    func empty() async throws {
        try await inPunctualWorlds(30) { world in
            let graph = try ServiceGraph(label: "g") {}
            #expect(try await graph.run { _ in 7 } == 7)
            #expect(
                world.events.names == [
                    "graph.starting", "graph.started", "graph.stopping", "graph.stopped",
                ])
        }
    }
}
