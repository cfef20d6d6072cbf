import Manifest
import Orchestrator
import Stoic
import Testing

@testable import OrchestratorCLI

@Suite("check", .timeLimit(.minutes(1)))
struct CheckReportTests {
    private func report(_ project: ProjectDefinition, limit: UInt64 = 20_000) -> CheckReport {
        CheckReport(project, [], descriptorLimit: limit)
    }

    @Test("a project that fits")
    func fits() {
        let text = report(
            project([
                service("db", start: .seconds(5)),
                service("api", needs: [Need("db")], start: .seconds(90), stop: .seconds(4)),
            ])
        ).text(.plain)
        #expect(
            text == """
                /srv/app/orchestrator.yaml: 2 services, no errors, no warnings

                longest start
                  if one service hangs  1 min 30 s  api
                  if all hang           1 min 35 s  db → api
                longest stop
                  if one service hangs  10 s  db
                  if all hang           14 s  the stopTimeouts add up to 14 s
                """)
    }

    @Test("CLI-9: what does not fit is said with the service, the numbers and what to do")
    func warns() {
        var odd = project([
            service("db", stop: .seconds(20)),
            service("api", needs: [Need("db", .completed)], stop: .seconds(20)),
        ])
        odd.services[0].hasControlChannel = true
        let report = CheckReport(
            odd, [Diagnostic(.warning, file: "a.yaml", path: "services.db", "odd")],
            descriptorLimit: 70)
        #expect(
            report.text(.plain).hasSuffix(
                """
                  if all hang           30 s  exitBudget; the stopTimeouts add up to 40 s

                a.yaml: warning: services.db: odd
                warning: "api" waits for "db" to complete, which runs until it is stopped: its \
                start has no bound; make "db" a oneshot
                warning: if "api" hangs while it stops, "db" gets 10 s instead of its stopTimeout \
                of 20 s; raise exitBudget to 40.5 s or lower the stopTimeout of "api"
                warning: the project needs about 75 descriptors and the limit is 70; raise it \
                with ulimit -Hn
                """))
        #expect(report.warningCount == 4)
    }

    @Test("JSON is one object with milliseconds")
    func json() throws {
        let value = try JSONValue(
            parsing: Array(report(project([service("db", start: .seconds(5))])).json.utf8))
        #expect(value["start"]?["ifAllHang"]?["ms"] == 5_000)
        #expect(value["stop"]?["ifOneHangs"]?["services"] == ["db"])
        #expect(value["warnings"] == [])
    }

    @Test("a project without services")
    func empty() {
        #expect(report(project([])).text(.plain).contains("0 s  nothing to do"))
    }

    @Test("a long path is shortened in the middle")
    func shortens() {
        let names = (1...100).map(String.init)
        #expect(shortened(names, separator: " → ") == "1 → 2 → 3 → … 95 more … → 99 → 100")
    }
}

@Suite("graph", .timeLimit(.minutes(1)))
struct GraphTests {
    private var drawing: GraphDrawing {
        var migrate = service("migrate", needs: [Need("db")])
        migrate.kind = .oneshot(rerunsWithNeeds: false, keepsTree: false)
        var api = service(
            "api",
            needs: [
                Need("db", onNeedLost: .restart), Need("migrate"),
                Need("cache", .started, required: false),
            ])
        api.isEssential = true
        var cache = service("cache")
        cache.startsAutomatically = false
        return GraphDrawing(project([api, migrate, service("db"), cache]))
    }

    @Test("as a table, in the order of the start")
    func text() {
        #expect(
            drawing.text(.plain) == """
                WAVE  SERVICE            NEEDS
                1     db                 -
                1     cache (manual)     -
                2     migrate (oneshot)  db
                3     api (essential)    db (restarts when lost), migrate, cache (started, optional)
                """)
    }

    @Test("for Graphviz")
    func dot() {
        #expect(
            drawing.dot == """
                digraph project {
                    rankdir=LR;
                    node [shape=box];
                    "api";
                    "migrate" [style=rounded];
                    "db";
                    "cache";
                    "api" -> "db" [label="restarts when lost"];
                    "api" -> "migrate";
                    "api" -> "cache" [style=dashed, label="started, optional"];
                    "migrate" -> "db";
                }
                """)
    }

    @Test("for Mermaid")
    func mermaid() {
        #expect(
            drawing.mermaid == """
                flowchart LR
                    s0["api"]
                    s1(["migrate"])
                    s2["db"]
                    s3["cache"]
                    s0 -->|"restarts when lost"| s2
                    s0 --> s1
                    s0 -.->|"started, optional"| s3
                    s1 --> s2
                """)
    }

    @Test("JSON names the wave and every default")
    func json() throws {
        let value = try JSONValue(parsing: Array(drawing.json.utf8))
        let api = value["services"]?.array?.last
        #expect(api?["name"] == "api" && api?["wave"] == 3)
        #expect(api?["needs"]?.array?.last?["required"] == false)
    }
}
