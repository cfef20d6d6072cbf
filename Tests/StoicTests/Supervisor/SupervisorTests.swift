import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("withSupervisor", .timeLimit(.minutes(5)))
struct SupervisorTests {
    struct Bug: Defect {}
    /// How the first run of a child ends, after a second.
    typealias FirstEnd = Result<Void, any Error>

    /// Rules without jitter, so that moments can be compared.
    private func rules(
        _ strategy: SupervisionStrategy = .oneForOne, most: Int = 5
    ) -> Supervision {
        var rules = Supervision(
            strategy: strategy, intensity: SupervisionIntensity(most, in: .seconds(30)))
        rules.backoff = .exponential(base: .milliseconds(200), cap: .seconds(30))
        return rules
    }

    /// A child that says when it starts, and how it ends; the first run ends after a second.
    private func child(
        _ label: String, _ log: Log, _ world: SimulatedWorld,
        restart: ChildSpec.Restart = .permanent, first: FirstEnd? = nil
    ) -> ChildSpec {
        let runs = Mutex(0)
        return ChildSpec(label, restart: restart) {
            let run = runs.withLock { runs in
                runs += 1
                return runs
            }
            log.note("\(label) starts")
            do {
                if run == 1, let first {
                    try await world.clock.sleep(for: .seconds(1))
                    try first.get()
                } else {
                    try await world.clock.sleep(for: .seconds(1_000))
                }
            } catch let error as CancellationError {
                log.note("\(label) stops: \(Cancellation.cause?.description ?? "none")")
                throw error
            }
        }
    }

    /// The lines, with starts that follow each other in no order: they are of one moment.
    private static func phases(_ lines: [String]) -> [[String]] {
        var phases: [[String]] = []
        for line in lines {
            if line.hasSuffix("starts"), let last = phases.last, last[0].hasSuffix("starts") {
                phases[phases.count - 1] = (last + [line]).sorted()
            } else {
                phases.append([line])
            }
        }
        return phases
    }

    @Test(
        "SUP-1: who is stopped and runs again when the middle one fails",
        arguments: [SupervisionStrategy.oneForOne, .oneForAll, .restForOne],
        [ChildSpec.Restart.permanent, .transient, .temporary])
    func matrix(strategy: SupervisionStrategy, restart: ChildSpec.Restart) async throws {
        try await inPunctualWorlds(30) { world in
            let log = Log()
            try await withSupervisor("s", rules(strategy)) { (supervisor: borrowing Supervisor) in
                try supervisor.add(child("a", log, world))
                try supervisor.add(
                    child("b", log, world, restart: restart, first: .failure(Broken(what: "b"))))
                try supervisor.add(child("c", log, world, restart: restart))
                try await world.clock.sleep(for: .seconds(5))
                log.note("end")
            }
            var expected = ["a starts", "b starts", "c starts"]
            if restart != .temporary {
                switch strategy {
                case .oneForOne: expected += ["b starts"]
                case .oneForAll:
                    expected += ["c stops", "a stops", "a starts", "b starts", "c starts"]
                case .restForOne: expected += ["c stops", "b starts", "c starts"]
                }
            }
            expected += ["end", "c stops"]
            if restart != .temporary { expected += ["b stops"] }
            expected += ["a stops"]
            let lines = log.lines.map { String($0.split(separator: ":")[0]) }
            #expect(Self.phases(lines) == Self.phases(expected))
            if world.order == .firstComeFirstServed { #expect(lines == expected) }
            let again: [ExpectedEvent] =
                restart == .temporary
                ? [] : ["supervisor.restartScheduled", "supervisor.restarted"]
            try world.events.expectTrace(["supervisor.childFailed"] + again, .inOrder)
            #expect(world.events.names.contains("supervisor.restarted") == !again.isEmpty)
        }
    }

    @Test("SUP-1: a temporary sibling that is stopped for another does not run again")
    func temporarySibling() async throws {
        try await inPunctualWorlds(30) { world in
            let log = Log()
            try await withSupervisor("s", rules(.oneForAll)) { (supervisor: borrowing Supervisor) in
                try supervisor.add(child("a", log, world, first: .failure(Broken(what: "a"))))
                try supervisor.add(child("b", log, world, restart: .temporary))
                try await world.clock.sleep(for: .seconds(5))
            }
            #expect(log.lines.filter { $0 == "b starts" }.count == 1)
            #expect(log.lines.filter { $0 == "a starts" }.count == 2)
            #expect(world.events.names.filter { $0 == "supervisor.restarted" }.count == 1)
        }
    }

    @Test("SUP-2: a child that returns runs again only if it is permanent")
    func normalEnds() async throws {
        for restart in [ChildSpec.Restart.permanent, .transient, .temporary] {
            try await inPunctualWorlds(30) { world in
                let log = Log()
                try await withSupervisor("s", rules()) { (supervisor: borrowing Supervisor) in
                    try supervisor.add(
                        child("a", log, world, restart: restart, first: .success(())))
                    try await world.clock.sleep(for: .seconds(5))
                    #expect(supervisor.runningCount == (restart == .permanent ? 1 : 0))
                }
                let starts = log.lines.filter { $0 == "a starts" }.count
                #expect(starts == (restart == .permanent ? 2 : 1))
                #expect(world.events.names.contains("supervisor.childStopped"))
            }
        }
    }

    @Test("SUP-3: one failure too many ends the supervisor, once, siblings last first")
    func intensity() async throws {
        try await inPunctualWorlds(30) { world in
            let log = Log()
            let error = try await failure(of: SupervisorError.self) {
                try await withSupervisor("s", rules(most: 5)) {
                    (supervisor: borrowing Supervisor) in
                    try supervisor.add(child("a", log, world))
                    try supervisor.add(child("b", log, world))
                    try supervisor.add(
                        ChildSpec("bad") {
                            log.note("bad starts")
                            throw Broken(what: "bad")
                        })
                    do { try await world.clock.sleep(for: .seconds(1_000)) } catch {
                        log.note("body: \(Cancellation.cause?.description ?? "none")")
                        throw error
                    }
                }
            }
            guard case .intensityExceeded(let child, let history) = error else {
                Issue.record("not \(String(describing: error))")
                return
            }
            #expect(child == "bad")
            #expect(history.count == 6)
            #expect(log.lines.filter { $0 == "bad starts" }.count == 6)
            #expect(log.lines.contains("body: work beside it failed"))
            let stops = log.lines.filter { $0.contains("stops") }
            #expect(stops == ["b stops: its supervisor stops", "a stops: its supervisor stops"])
            #expect(world.events.names.filter { $0 == "supervisor.escalated" }.count == 1)
            #expect(world.events.names.filter { $0 == "supervisor.intensityExceeded" }.count == 1)
        }
    }

    @Test("SUP-4: a crash every 31 s for a day never escalates, and its delay stays the first")
    func stable() async throws {
        try await simulate { world in
            let runs = Mutex(0)
            try await withSupervisor("s", rules()) { (supervisor: borrowing Supervisor) in
                try supervisor.add(
                    ChildSpec("a") {
                        runs.withLock { $0 += 1 }
                        try await world.clock.sleep(for: .seconds(31))
                        throw Broken(what: "a")
                    })
                try await world.clock.sleep(for: .seconds(86_400))
            }
            #expect(runs.withLock { $0 } == 86_400_000 / 31_200 + 1)
            let delays = world.events.events.filter { $0.name == .supervisorRestartScheduled }
                .compactMap { $0.fields.last?.value }
            #expect(delays.allSatisfy { $0 == .duration(.milliseconds(200)) })
        }
    }

    @Test("SUP-5: a child that ignores its stop is left behind; overlap is allowed, or escalates")
    func deaf() async throws {
        for allowsOverlap in [true, false] {
            try await inPunctualWorlds(30) { world in
                let log = Log()
                let release = Completion<Void>()
                let error = try await failure(of: SupervisorError.self) {
                    try await withSupervisor("s", rules(.oneForAll)) {
                        (supervisor: borrowing Supervisor) in
                        try supervisor.add(
                            child("a", log, world, first: .failure(Broken(what: "a"))))
                        try supervisor.add(
                            ChildSpec("deaf", allowsOverlap: allowsOverlap) {
                                log.note("deaf starts")
                                await shielded { _ = await release.wait() }
                            })
                        try await world.clock.sleep(for: .seconds(10))
                    }
                }
                if allowsOverlap {
                    #expect(error == nil)
                    #expect(log.lines.filter { $0 == "deaf starts" }.count == 2)
                } else {
                    guard case .childIgnoredStop(child: "deaf") = error else {
                        Issue.record("not \(String(describing: error))")
                        return
                    }
                }
                #expect(world.events.names.contains("supervisor.childAbandoned"))
                release.fulfil(())
            }
        }
    }

    @Test("SUP-6: two children that fail during each other's delay both run again")
    func overlappingDelays() async throws {
        try await inPunctualWorlds(30) { world in
            let log = Log()
            var rules = rules()
            rules.backoff = .spaced(.seconds(2))
            try await withSupervisor("s", rules) { (supervisor: borrowing Supervisor) in
                try supervisor.add(child("a", log, world, first: .failure(Broken(what: "a"))))
                try supervisor.add(
                    ChildSpec("b") {
                        log.note("b starts")
                        try await world.clock.sleep(for: .milliseconds(1_500))
                        throw Broken(what: "b")
                    })
                try await world.clock.sleep(for: .milliseconds(3_700))
            }
            #expect(log.lines.filter { $0 == "a starts" }.count == 2)
            #expect(log.lines.filter { $0 == "b starts" }.count == 2)
            #expect(world.events.names.filter { $0 == "supervisor.restarted" }.count == 2)
        }
    }

    @Test("SUP-7: a cancel during the delay: nothing runs again, and the end waits for nothing")
    func cancelDuringDelay() async throws {
        try await inPunctualWorlds(30) { world in
            let log = Log()
            var rules = rules()
            rules.backoff = .spaced(.seconds(30))
            let task = spawn { [rules] in
                do {
                    try await withSupervisor("s", rules) { (supervisor: borrowing Supervisor) in
                        try supervisor.add(
                            child("a", log, world, first: .failure(Broken(what: "a"))))
                        try await world.clock.sleep(for: .seconds(1_000))
                    }
                } catch { log.note("threw \(error is CancellationError)") }
            }
            try await world.clock.sleep(for: .seconds(5))
            task.cancel()
            await task.value
            #expect(world.clock.now.sinceOrigin == .seconds(5))
            #expect(log.lines == ["a starts", "threw true"])
            #expect(world.clock.sleeperCount == 0)
            #expect(!world.events.names.contains("supervisor.restarted"))
        }
    }

    @Test("SUP-8: a child that is added once the supervisor stops is refused")
    func addWhileStopping() async throws {
        try await inPunctualWorlds(30) { world in
            let refused = Mutex(false)
            let error = try await failure(of: SupervisorError.self) {
                try await withSupervisor("s", rules()) { (supervisor: borrowing Supervisor) in
                    try supervisor.add(ChildSpec("a") { throw StopTree("enough") })
                    await supervisor.waitForEnd()
                    do { try supervisor.add(ChildSpec("b") {}) } catch {
                        guard case SupervisorError.shuttingDown = error else { throw error }
                        refused.withLock { $0 = true }
                    }
                }
            }
            #expect(refused.withLock { $0 })
            guard case .escalated(child: "a", let why) = error else {
                Issue.record("not \(String(describing: error))")
                return
            }
            #expect(why is StopTree)
            #expect(world.events.names.contains("supervisor.escalated"))
        }
    }

    @Test("SUP-9: the end of a significant child, or of all of them, ends the supervisor")
    func significant() async throws {
        for (rule, seconds) in [(AutomaticEnd.any, 1), (.all, 2)] {
            try await inPunctualWorlds(30) { world in
                let log = Log()
                var rules = rules()
                rules.automaticEnd = rule
                try await withSupervisor("s", rules) { (supervisor: borrowing Supervisor) in
                    for second in [1, 2] {
                        try supervisor.add(
                            ChildSpec("s\(second)", restart: .transient, significant: true) {
                                try await world.clock.sleep(for: .seconds(second))
                            })
                    }
                    try supervisor.add(child("other", log, world))
                    await supervisor.waitForEnd()
                    #expect(world.clock.now.sinceOrigin == .seconds(seconds))
                }
                #expect(log.lines == ["other starts", "other stops: its supervisor stops"])
                #expect(world.events.names.contains("supervisor.childStopped"))
                #expect(!world.events.names.contains("supervisor.escalated"))
            }
        }
    }

    @Test("SUP-10: ten minutes of sleep between failures do not count as many failures")
    func sleepingMachine() async throws {
        try await inPunctualWorlds(30) { world in
            let runs = Mutex(0)
            try await withSupervisor("s", rules(most: 1)) { (supervisor: borrowing Supervisor) in
                try supervisor.add(
                    ChildSpec("a") {
                        let run = runs.withLock { runs in
                            runs += 1
                            return runs
                        }
                        try await world.clock.sleep(for: .seconds(run == 1 ? 1 : 600))
                        throw Broken(what: "a")
                    })
                try await world.clock.sleep(for: .seconds(1_300))
            }
            #expect(runs.withLock { $0 } == 4)
            #expect(world.events.names.filter { $0 == "supervisor.restarted" }.count == 3)
            #expect(!world.events.names.contains("supervisor.intensityExceeded"))
        }
    }

    @Test("SUP-11: a defect escalates, unless its rule says otherwise; do-not-restart is obeyed")
    func specialErrors() async throws {
        for rule in [DefectRule.escalate, .restart] {
            try await inPunctualWorlds(30) { world in
                let log = Log()
                var rules = rules()
                rules.onDefect = rule
                let error = try await failure(of: SupervisorError.self) {
                    try await withSupervisor("s", rules) { (supervisor: borrowing Supervisor) in
                        try supervisor.add(child("a", log, world, first: .failure(Bug())))
                        try supervisor.add(
                            child("b", log, world, first: .failure(DoNotRestart())))
                        try await world.clock.sleep(for: .seconds(5))
                    }
                }
                #expect((error != nil) == (rule == .escalate))
                #expect(log.lines.filter { $0 == "b starts" }.count == 1)
                let levels = world.events.events.filter { $0.name == .supervisorChildFailed }
                #expect(levels.map(\.level) == [.error])
            }
        }
    }
}
