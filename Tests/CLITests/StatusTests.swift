import Orchestrator
import Testing

@testable import OrchestratorCLI

@Suite("status", .timeLimit(.minutes(1)))
struct StatusTests {
    private let status: JSONValue = [
        "project": [
            "name": "app", "pid": 4_711, "state": "up", "since": 7_390.2,
            "file": "/srv/app/orchestrator.yaml",
        ],
        "services": [
            [
                "name": "db", "state": "up", "health": "ready", "pid": 412, "restarts": 0,
                "readyFor": 65, "status": "accepting connections",
            ],
            [
                "name": "api", "state": "backingOff", "restarts": 3, "reason": "exited with code 7",
                "nextStart": ["in": 3.2, "attempt": 4],
            ],
            [
                "name": "web", "state": "waiting",
                "blockers": ["db was stopped by uid 1000", "api"],
            ],
            ["name": "mail", "state": "up", "health": "notReady", "reason": "queue is full"],
            ["name": "job", "state": "ended", "reason": "completed", "lastExit": "code 0"],
            ["name": "evil", "state": "ended", "reason": "failed: \u{1B}[2J\nline"],
            ["name": "new", "state": "someNewState", "unknownKey": [1, 2]],
        ],
    ]

    @Test("CLI-12: aligned, with reasons; what a service says cannot draw")
    func table() throws {
        let report = try #require(StatusReport(status))
        #expect(
            report.text(.plain) == """
                app is up for 2 h 3 min (engine pid 4711, /srv/app/orchestrator.yaml)

                SERVICE  STATE           PID  READY FOR  RESTARTS  REASON
                db       ready           412  1 min 5 s            accepting connections
                api      backing off                     3         exited with code 7; next start \
                in 3.2 s (attempt 4)
                web      waiting                                   db was stopped by uid 1000, api
                mail     not ready                                 queue is full
                job      ended                                     completed
                evil     ended                                     failed: \\x1b[2J\\nline
                new      some new state
                """)
    }

    @Test("colours carry the state, and only where there are colours")
    func colours() throws {
        let report = try #require(StatusReport(status))
        let text = report.text(Style(isColored: true))
        #expect(text.contains("\u{1B}[32mready\u{1B}[0m"))
        #expect(text.contains("\u{1B}[33mbacking off\u{1B}[0m"))
        #expect(
            report.services.map(\.color) == [
                .green, .yellow, .yellow, .yellow, .faint, .red, .faint,
            ])
        #expect(!report.text(.plain).contains("\u{1B}"))
    }

    @Test(
        "CLI-13: an engine that says less, or nonsense, is shown as far as it goes",
        arguments: [
            ["services": []], ["services": [[:], 7, ["name": 3, "readyFor": "1m30s"]]],
            ["services": [["name": "a", "readyFor": -1, "nextStart": 1e300, "pid": "x"]]],
        ] as [JSONValue])
    func tolerant(status: JSONValue) throws {
        let report = try #require(StatusReport(status))
        #expect(!report.text(.plain).isEmpty)
    }

    @Test(
        "no list of services is no status", arguments: [nil, [:], ["services": 1]] as [JSONValue?])
    func none(status: JSONValue?) {
        #expect(StatusReport(status) == nil)
    }
}

@Suite("Durations", .timeLimit(.minutes(1)))
struct HumanDurationTests {
    @Test(
        "for people",
        arguments: [
            (0, "0 s"), (1, "1 ms"), (250, "250 ms"), (999, "999 ms"), (1_000, "1 s"),
            (3_240, "3.2 s"), (59_949, "59.9 s"), (59_950, "1 min"), (60_000, "1 min"),
            (90_000, "1 min 30 s"), (3_600_000, "1 h"), (7_500_000, "2 h 5 min"),
            (273_600_000, "3 d 4 h"), (-1_500, "-1.5 s"),
        ])
    func text(milliseconds: Int, expected: String) {
        #expect(humanDuration(.milliseconds(milliseconds)) == expected)
    }

    @Test("the ends of the range")
    func ends() {
        #expect(humanDuration(.nanoseconds(1)) == "<1 ms")
        #expect(humanDuration(.seconds(Int64.max)) == "for ever")
        #expect(humanDuration(.seconds(Int64.min)) == "-for ever")
    }
}
