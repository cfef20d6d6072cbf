import Glibc
import Manifest
import Orchestrator
import Simulation
import Stoic
import Testing

@testable import OrchestratorCLI

@Suite("simulate", .timeLimit(.minutes(2)))
struct SimulateTests {
    static let shop = """
        exitBudget: 20s
        services:
          db:
            command: [postgres, -D, data]
            ready: {tcp: 5432}
            x-simulate: {ready: 2s, stop: 500ms}
          migrate:
            type: oneshot
            command: ./bin/migrate up
            needs: [db]
          web:
            command: [./bin/web]
            needs: {db: {onNeedLost: restart}, migrate: {}}
            ready: notify
            control: true
            essential: true

        """

    private func project(_ text: String = shop) throws -> ProjectDefinition {
        try loadProject(text: Array(text.utf8), file: "/srv/shop/shop.yaml", environment: [:])
            .project
    }

    private func invocation(_ line: String) throws -> Invocation {
        let words = line.split(separator: " ").map(String.init)
        guard case .run(let invocation) = try ArgumentParser.parse(words) else {
            Issue.record("not to be run: \(line)")
            return Invocation(verb: .help)
        }
        return invocation
    }

    /// What the scenario of a command line is, played on a project.
    private func scenario(_ project: ProjectDefinition, _ line: String) throws -> Scenario {
        let invocation = try invocation("simulate " + line)
        var scenario = Scenario(of: project)
        scenario.incidents = invocation.incidents
        scenario.until = invocation.duration(.until) ?? scenario.until
        scenario.seed = UInt64(invocation.count(.seed) ?? 1)
        return scenario
    }

    @Test("SIM-14: the timeline says what would be decided, the states why, and the times how long")
    func golden() throws {
        let project = try project()
        var text = ""
        for line in [
            "--kill db@5s", "--hang web", "--ignore-term db --stop@30s",
            "--sleep 10m@1m --until 1h",
            "--unkillable migrate --fail-launch web=1",
        ] {
            let scenario = try scenario(project, line)
            let result = try scenario.run()
            #expect(result.violations == [])
            let report = SimulationReport(project, scenario, result)
            text += "$ orchestrator simulate \(line)\n\(report.text(.plain))\n\n"
        }
        let scenario = try scenario(project, "--kill db@5s")
        text += SimulationReport(project, scenario, try scenario.run()).json + "\n"
        try GoldenFile("simulate.txt").expect(text)
    }

    @Test("SIM-15: many seeds are summed up in the worst runs, each with its options")
    func seeds() throws {
        let project = try project()
        let base = Scenario(of: project)
        var report = SeedReport(project, seeds: 40)
        for seed in UInt64(1)...40 {
            let played = base.withIncidents(seed: seed)
            let result = try played.run()
            #expect(result.violations == [], "seed \(seed)")
            report.note(played, result)
        }
        try GoldenFile("simulate-seeds.txt").expect(report.text(.plain) + "\n" + report.json + "\n")
    }

    @Test("SIM-8: every incident is written as an option that reads back as the same")
    func options() throws {
        let specs = [ServiceSpec("db"), ServiceSpec("web-1.b_c")]
        for seed in UInt64(1)...300 {
            var source = RandomIncidents(specs, seed: seed)
            let drawn = source.draw()
            let line = drawn.map(\.option).joined(separator: " ")
            let read = try invocation("simulate " + line).incidents
            #expect(Set(read) == Set(drawn), "\(line)")
        }
        let odd = Incident(.slowStart("db", .nanoseconds(1_000_000_001)), at: .microseconds(3))
        #expect(try invocation("simulate \(odd.option)").incidents == [odd])
    }

    @Test("SIM-3: a scenario that is printed plays the same way again", arguments: 1...60)
    func readsBack(seed: UInt64) throws {
        let scenario = RandomScenario.of(seed: seed)
        let text = ScenarioText(scenario)
        let project = try project(text.config)
        let words = text.commandLine().split(separator: " ").dropFirst(4).joined(separator: " ")
        let again = try self.scenario(project, words)
        let (first, second) = (try scenario.run(), try again.run())
        #expect(
            first.journal.map(\.decision) == second.journal.map(\.decision),
            "\(text.commandLine())\n\(text.config)")
    }

    @Test("SIM-7: a fault on a service that is not there names its option and what is near")
    func unknownService() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write(Self.shop)
        let run = CommandRun(
            try invocation("-f \(file) simulate --kill databse@5s --hang dbb"),
            console: Console(GlobalOptions(), environment: [:]), environment: [:])
        let failure = #expect(throws: Failure.self) { try run.simulate() }
        #expect(failure?.code == .usage)
        let message = failure?.message ?? ""
        #expect(
            message.hasPrefix("--hang dbb: no service \"dbb\" (did you mean \"db\"?)")
                || message.hasPrefix("--kill databse@5s: no service \"databse\""))
    }

    @Test("SIM-11: nothing is started and no file is written")
    func startsNothing() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write(
            "services: {a: {command: [touch, \(directory.path)/started]}}\n")
        let run = CommandRun(
            try invocation("-f \(file) simulate --kill a@1s --seeds 20 --json"),
            console: Console(GlobalOptions(json: true), environment: [:]),
            environment: ["XDG_STATE_HOME": directory.path, "XDG_RUNTIME_DIR": directory.path])
        #expect(try run.simulate() == .done)
        #expect(entries(of: directory.path) == ["orchestrator.yaml"])
    }

    private func entries(of path: String) -> [String] {
        guard let stream = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    // MARK: Measured durations

    private static func event(
        _ id: Int, _ name: String, _ service: String, at milliseconds: Int
    ) -> String {
        """
        {"id":\(id),"monotonicNs":\(milliseconds * 1_000_000),"name":"\(name)",\
        "service":"\(service)","level":"info","message":""}

        """
    }

    @Test("SIM-9: the longest start and stop of each service are measured from its events")
    func measures() throws {
        let directory = try TemporaryDirectory()
        let lines = [
            Self.event(1, "service.launching", "db", at: 1_000),
            Self.event(2, "service.launched", "db", at: 1_020),
            Self.event(3, "service.ready", "db", at: 3_020),
            Self.event(4, "service.stopping", "db", at: 9_000),
            Self.event(5, "service.stopped", "db", at: 9_700),
            Self.event(6, "service.launching", "db", at: 10_000),
            Self.event(7, "service.ready", "db", at: 11_000),
            Self.event(8, "service.stopping", "db", at: 20_000),
            Self.event(9, "service.killed", "db", at: 30_000),
            Self.event(10, "service.stopped", "db", at: 30_100),
            Self.event(11, "service.launching", "migrate", at: 3_000),
            Self.event(12, "service.completed", "migrate", at: 7_000),
        ]
        let file = try directory.write(lines.joined() + "{\"id\":13,\"na", to: "db.env")
        let times = try EventLogReader.read(file)
        var db = MeasuredTimes(launch: .milliseconds(20), ready: .seconds(2))
        db.stop = .milliseconds(700)
        #expect(times == ["db": db, "migrate": MeasuredTimes(run: .seconds(4))])
        let behaviours = Scenario(of: try project(), measured: times).behaviours
        #expect(behaviours["db"]?.launch == .milliseconds(20))
        #expect(behaviours["db"]?.term == .milliseconds(700), "more than x-simulate says")
        #expect(behaviours["migrate"]?.exits == [.init(after: .seconds(4), status: .code(0))])
    }

    @Test("SIM-9: what is no event is refused with its line; what is not there, with the reason")
    func refusesEvents() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write(
            Self.event(1, "service.ready", "db", at: 1) + "hello\n", to: "db.env")
        let failure = #expect(throws: Failure.self) { try EventLogReader.read(file) }
        #expect(failure?.message == "\(file):2: this is not an event")
        let missing = #expect(throws: Failure.self) { try EventLogReader.read("/no/such") }
        #expect(missing?.message == "cannot read /no/such: there is no such file or directory")
        #expect(missing?.code == .usage)
    }
}
