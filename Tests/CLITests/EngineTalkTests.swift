import Orchestrator
import Testing

@testable import OrchestratorCLI

@Suite("What is asked of the engine, and what its answers mean", .timeLimit(.minutes(1)))
struct EngineTalkTests {
    @Test(
        "the body of each verb",
        arguments: [
            ("down", #"{"names":[]}"#), ("down --now", #"{"names":[],"now":true}"#),
            ("down a b", #"{"names":["a","b"]}"#), ("stop a", #"{"names":["a"]}"#),
            ("signal a HUP", #"{"name":"a","signal":1,"to":"main"}"#),
            ("signal a 9 --to tree", #"{"name":"a","signal":9,"to":"tree"}"#),
            ("reload", "{}"), ("reload --service a", #"{"service":"a"}"#),
            ("up a", #"{"names":["a"],"wait":true}"#), ("up -d", #"{"names":[],"wait":false}"#),
            ("up -d --wait=1m30s", #"{"names":[],"wait":true,"timeout":90.0}"#),
            ("wait a", #"{"names":["a"],"for":"ready","timeout":3600.0}"#),
            (
                "wait a --for completed --timeout 50ms",
                #"{"names":["a"],"for":"completed","timeout":0.05}"#
            ),
        ])
    func body(line: String, expected: String) throws {
        let words = line.split(separator: " ").map(String.init)
        guard case .run(let invocation) = try ArgumentParser.parse(words) else { return }
        let call = EngineCall(invocation)
        #expect(call.path == [invocation.verb.rawValue])
        #expect(call.body?.description == expected)
    }

    @Test("CLI-15: the last line carries the exit code")
    func result() {
        let result = EngineResult([
            "result": [
                "exitCode": 3, "message": "2 processes outlived the stop",
                "survivors": [["service": "api", "pid": 412, "command": "node"], "x (pid 7)"],
            ]
        ])
        #expect(result.code == .survivors)
        #expect(result.message == "2 processes outlived the stop")
        #expect(result.lines == ["survivor: api (pid 412, node)", "survivor: x (pid 7)"])
    }

    @Test("what a service said last stands on lines of its own, and draws nothing else")
    func lastOutput() {
        let result = EngineResult(["result": ["exitCode": 1, "message": "a failed:\n  x\u{1B}[2J"]])
        #expect(result.message == "a failed:\n  x\\x1b[2J")
    }

    @Test("a plan is a line for each change")
    func plan() {
        let plan = PlanView([
            "changes": [
                ["service": "a", "change": "added", "because": nil],
                ["service": "b", "change": "relaunched", "because": "it needs a"],
                ["service": "c", "change": "removed"], ["service": "d", "change": "somethingNew"],
            ],
            "warnings": ["a.yaml: warning: odd"],
        ])
        #expect(
            plan.lines == [
                "a.yaml: warning: odd", "+ a: added", "~ b: relaunched (it needs a)",
                "- c: removed", "~ d: somethingNew",
            ])
        #expect(PlanView(nil).lines.isEmpty && PlanView(["event": [:]]).lines.isEmpty)
    }

    @Test("a config the engine refuses is shown problem by problem")
    func refusedConfig() {
        let body: JSONValue = [
            "error": ["code": "config", "message": "x\ny", "errors": ["a:1:2: x", "a:3:4: y"]]
        ]
        let failure = Failure(ControlResponse(status: 422, body: body), names: [], asked: [])
        #expect(failure.code == .config)
        #expect(
            failure.text(.plain)
                == "a:1:2: x\na:3:4: y\nerror: cannot use the config: 2 errors")
    }

    @Test(
        "an answer without a verdict is a defect",
        arguments: [nil, [:], ["result": [:]]] as [JSONValue?])
    func noResult(body: JSONValue?) { #expect(EngineResult(body).code == .defect) }

    @Test(
        "CLI-16: the status of a refusal becomes an exit code, unless the engine names one",
        arguments: [
            (400, 64), (404, 64), (403, 77), (408, 75), (409, 1), (422, 78), (503, 69), (500, 70),
        ] as [(Int, Int32)])
    func refusal(status: Int, code: Int32) {
        let body: JSONValue = ["error": ["code": "x", "message": "no service \"dbb\""]]
        let response = ControlResponse(status: status, body: body)
        let failure = Failure(response, names: ["db"], asked: ["dbb"])
        #expect(failure.code.number == code)
        #expect(failure.message == "no service \"dbb\"")
        #expect(failure.hint == (status == 404 ? "Did you mean \"db\"?" : nil))
        let named = ControlResponse(status: status, body: ["error": ["exitCode": 3]])
        #expect(Failure(named, names: [], asked: []).code == .survivors)
    }

    @Test(
        "why there was no answer",
        arguments: [
            (.nothingRuns(path: "/s"), 69), (.notPermitted(path: "/s"), 77),
            (.timedOut(waitingFor: "an answer", after: .seconds(10)), 75),
            (.disconnected(path: "/s"), 69), (.interrupted, 130),
        ] as [(ControlClientError, Int32)])
    func noAnswer(error: ControlClientError, code: Int32) {
        #expect(Failure(error).code.number == code)
    }

    @Test("an event in a line")
    func event() {
        let line = EventLine([
            "id": 18, "cause": 17, "service": "db", "level": "warning", "name": "service.restart",
            "message": "restarts in 2 s",
        ])
        #expect(line.text(.plain) == "warning db: restarts in 2 s #18 ← #17")
        #expect(EventLine([:]).text(.plain) == "")
    }

    @Test("CLI-17: why: the chain of causes, oldest first, and it ends")
    func chain() {
        let events: [JSONValue] = [
            ["id": 1, "name": "command.up"], ["id": 2, "cause": 1, "service": "db"],
            ["id": 3, "cause": 2, "service": "api"], ["id": 4, "service": "mail"],
            ["id": 5, "cause": 3, "service": "api"], ["id": 6, "cause": 6, "service": "loop"],
            ["id": 7, "cause": 99, "service": "lost"],
        ]
        func ids(_ name: String) -> [Int64] {
            CauseChain.of(name, in: events).compactMap { $0["id"]?.integer }
        }
        #expect(ids("api") == [1, 2, 3, 5])
        #expect(ids("loop") == [6])
        #expect(ids("lost") == [7])
        #expect(ids("nobody") == [])
    }

    @Test("lines of logs: as they are into a pipe, harmless on a terminal")
    func logs() {
        let line: JSONValue = ["service": "db", "text": "\u{1B}[2Jgone", "cut": true]
        func text(isTerminal: Bool) -> String {
            let style = OutputRenderer.Style(isTerminal: isTerminal, hasColor: false)
            return String(
                decoding: LogView(["db", "worker"], style).bytes(of: line), as: UTF8.self)
        }
        #expect(text(isTerminal: false) == "db     | \u{1B}[2Jgone… [cut]\n")
        #expect(!text(isTerminal: true).contains("\u{1B}"))
    }

    @Test(
        "a moment is an age or a date",
        arguments: [
            ("10s", 990_000_000_000), ("1970-01-02", nil), ("1970-01-01T00:01:00Z", 60_000_000_000),
            ("1970-01-01 00:00:05Z", 5_000_000_000), ("2026-13-01", nil), ("yesterday", nil),
            ("", nil), ("T", nil), ("1970-01-01T25:00Z", nil), ("-1970-01-01", nil),
        ] as [(String, Int64?)])
    func moment(text: String, expected: Int64?) {
        let found = Moment.nanoseconds(of: text, now: 1_000_000_000_000)
        if text == "1970-01-02" {
            #expect(found != nil)  // The time zone of whoever runs this decides which.
        } else {
            #expect(found == expected)
        }
    }

    @Test("the message of notify")
    func notify() throws {
        let words = ["notify", "--ready", "--status", "a\nSTOPPING=1", "--pid", "X_Y=1"]
        guard case .run(let invocation) = try ArgumentParser.parse(words) else { return }
        #expect(
            NotifyMessage(invocation, caller: 12).text
                == "READY=1\nSTATUS=a STOPPING=1\nMAINPID=12\nX_Y=1\n")
    }
}
