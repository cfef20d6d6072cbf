import Simulation
import Stoic
import Testing

/// Imaginary processes misbehave as real ones do; what follows is the brain's.
@Suite("Simulation, the host", .timeLimit(.minutes(1)))
struct HostTests {
    /// A service that reports readiness, and one that needs it.
    private static func pair() -> Scenario {
        var scenario = Scenario([
            ServiceSpec("db", readiness: .reported),
            ServiceSpec("web", needs: [Need("db")], readiness: .reported),
        ])
        for spec in scenario.specs { scenario.behaviours[spec.name] = Behaviour(of: spec) }
        return scenario
    }

    /// The names of what was decided about a service, with seconds, while it was watched.
    private static func lines(_ result: ScenarioResult, _ name: ServiceName) -> [String] {
        result.journal.prefix(result.watched).filter { $0.service == name }.map { entry in
            let at = (entry.at.boot - SimulatedHost.begin.boot) / .seconds(1)
            return "\((at * 10).rounded() / 10) \(entry.decision.what.name)"
        }
    }

    private static func run(
        _ incidents: Incident..., change: (inout Scenario) -> Void = { _ in }
    ) throws -> ScenarioResult {
        var scenario = pair()
        scenario.incidents = incidents
        change(&scenario)
        let result = try scenario.run()
        #expect(result.violations == [])
        return result
    }

    @Test("SIM-6: nothing befalls them: both are up, and stop in reverse")
    func quiet() throws {
        let result = try Self.run()
        #expect(result.start == .milliseconds(210))
        #expect(result.stop == .milliseconds(200))
        #expect(!result.isBusy && result.outcome?.failed == [])
    }

    @Test("SIM-6: a killed process is launched again after its delay")
    func killed() throws {
        let result = try Self.run(Incident(.kill("db"), at: .seconds(5)))
        let lines = Self.lines(result, "db")
        #expect(lines.contains("5.0 service.failed"))
        #expect(lines.count { $0.hasSuffix("service.launching") } == 2)
        #expect(result.machine.unsettledServices == [])
    }

    @Test("SIM-6: one that hangs before it is ready fails its start, and is killed")
    func hangs() throws {
        let result = try Self.run(Incident(.hang("web")))
        let lines = Self.lines(result, "web")
        #expect(lines.contains("30.1 service.failed"))
        #expect(lines.contains("40.1 service.killed"))
        #expect(result.start == nil && result.outcome?.failed.count == 1)
    }

    @Test("SIM-6: one that ignores SIGTERM is killed at the end of its slot")
    func ignoresTerm() throws {
        let result = try Self.run(Incident(.ignoreTerm("web")), Incident(.stop, at: .seconds(5)))
        #expect(Self.lines(result, "web").contains("15.0 service.killed"))
        #expect(result.stop == .milliseconds(10_100))
    }

    @Test("SIM-6: an escapee keeps a service from ending until SIGKILL")
    func escapes() throws {
        let result = try Self.run(Incident(.escape("db")), Incident(.kill("db"), at: .seconds(5)))
        let lines = Self.lines(result, "db")
        #expect(lines.contains("15.0 service.killed"))
        #expect(lines.contains("15.0 service.launching"), "not before the tree is empty")
    }

    @Test("SIM-6: what outlives SIGKILL is abandoned, and named at the end")
    func unkillable() throws {
        let result = try Self.run(Incident(.unkillable("web")), Incident(.stop, at: .seconds(5)))
        let names = result.outcome?.abandoned.map { result.machine.spec(of: $0).name }
        #expect(names == ["web"])
    }

    @Test("SIM-6: a launch that fails twice is tried as often as the config says")
    func failsToLaunch() throws {
        let result = try Self.run(Incident(.failLaunch("db", 2))) {
            $0.specs[0].startAttempts = 3
        }
        #expect(result.start != nil)
        let once = try Self.run(Incident(.failLaunch("db", 1)))
        #expect(once.start == nil && once.outcome?.failed.count == 1)
    }

    @Test("SIM-6: lies and floods on the notify socket break no rule", arguments: [true, false])
    func talks(lies: Bool) throws {
        let result = try Self.run(
            Incident(lies ? .lie("db") : .flood("db")),
            Incident(lies ? .lie("web") : .flood("web"), at: .seconds(3)),
            Incident(.stop, at: .milliseconds(3_100)))
        #expect(result.events > (lies ? 20 : 1_000))
        #expect(result.outcome != nil)
    }

    @Test("SIM-6: a oneshot is not ready by saying so, and stops with those that are not")
    func lyingOneshot() throws {
        let result = try Self.run(Incident(.lie("task")), Incident(.stop, at: .milliseconds(500))) {
            let task = ServiceSpec(
                "task", kind: .oneshot(rerunsWithNeeds: false, keepsTree: true),
                readiness: .completion)
            $0.specs.append(task)
            $0.behaviours["task"] = Behaviour(of: task)
        }
        #expect(Self.lines(result, "task").contains("0.5 service.stopping"))
    }

    @Test("SIM-6: a watchdog is fed until the process hangs")
    func watchdog() throws {
        let fed = try Self.run { scenario in
            scenario.specs[0].watchdog = .seconds(2)
            scenario.behaviours["db"]?.pings = true
            scenario.until = .seconds(60)
        }
        #expect(!Self.lines(fed, "db").contains { $0.hasSuffix("service.failed") })
        let hung = try Self.run(Incident(.hang("db"), at: .seconds(10))) { scenario in
            scenario.specs[0].watchdog = .seconds(2)
            scenario.behaviours["db"]?.pings = true
            scenario.until = .seconds(60)
        }
        let failed = Self.lines(hung, "db").first { $0.hasSuffix("service.failed") }
        #expect(failed.map { $0 <= "12.0" && $0 > "11" } == true, "\(failed ?? "never")")
    }

    @Test("SIM-16: liveness probes succeed until the process hangs")
    func liveness() throws {
        let lives = try Self.run { scenario in
            scenario.specs[0].liveThreshold = 2
            scenario.until = .seconds(60)
        }
        #expect(!Self.lines(lives, "db").contains { $0.contains("probe") })
        let hung = try Self.run(Incident(.hang("db"), at: .seconds(15))) { scenario in
            scenario.specs[0].liveThreshold = 2
            scenario.until = .seconds(60)
        }
        let failed = Self.lines(hung, "db").first { $0.hasSuffix("service.failed") }
        // Those of second 20 and, a second of timeout later, 31.
        #expect(failed?.hasPrefix("32.") == true, "\(failed ?? "never")")
        let socket = try Self.run(Incident(.hang("db"), at: .seconds(15))) { scenario in
            scenario.specs[0].liveThreshold = 2
            scenario.behaviours["db"]?.probesShowHang = false
            scenario.until = .seconds(60)
        }
        #expect(!Self.lines(socket, "db").contains { $0.contains("probe") })
    }

    @Test("SIM-4: a delay goes on while the machine sleeps; a start is not judged by sleep")
    func sleep() throws {
        let delayed = try Self.run(
            Incident(.kill("db"), at: .seconds(5)),
            Incident(.machineSleeps(.seconds(600)), at: .milliseconds(5_100)))
        #expect(Self.lines(delayed, "db").contains("605.1 service.launching"))
        let starting = try Self.run(
            Incident(.slowStart("db", .seconds(20))),
            Incident(.machineSleeps(.seconds(600)), at: .seconds(5))
        ) { $0.until = .seconds(3_600) }
        #expect(Self.lines(starting, "db").contains("620.0 service.ready"))
        #expect(starting.outcome?.failed == [])
    }

    @Test("SIM-5: when we stand still ourselves, a start is put off by as much")
    func pause() throws {
        let result = try Self.run(
            Incident(.slowStart("db", .seconds(29))),
            Incident(.pause(.seconds(60)), at: .seconds(5)))
        #expect(result.start != nil && result.outcome?.failed == [])
    }

    @Test(
        "SIM-6: what somebody asks for by name is done", arguments: Incident.What.Request.allCases)
    func asks(request: Incident.What.Request) throws {
        let result = try Self.run(Incident(.ask(request, "db"), at: .seconds(5)))
        let id = try #require(result.machine.service(named: "db"))
        switch request {
        case .start: #expect(Self.lines(result, "db").count { $0.hasSuffix("launching") } == 1)
        case .restart: #expect(Self.lines(result, "db").count { $0.hasSuffix("launching") } == 2)
        case .stop: #expect(result.machine.state(of: id) == .ended(.held("you")))
        case .down: #expect(result.machine.state(of: id).holdsItsNeeds == false)
        }
    }

    @Test("SIM-13: what goes round in circles is cut off, and said")
    func circles() throws {
        var scenario = Self.pair()
        scenario.until = .seconds(1_000_000_000)
        scenario.specs[0].restart.mode = .always
        scenario.specs[0].onStartFailure = .keep
        scenario.specs[0].restart.backoff = .immediate
        scenario.specs[0].restart.limitWindow = .zero
        scenario.behaviours["db"]?.exits = [.init(after: .zero, status: .code(0))]
        scenario.specs.removeLast()
        let result = try scenario.run()
        #expect(result.violations.contains { $0.hasPrefix("it goes round in circles") })
        #expect(result.journal.count < SimulatedHost.mostEntries + 100)
    }
}
