import Testing

@testable import OrchestratorCLI

@Suite("Argument parser", .timeLimit(.minutes(1)))
struct ArgumentParserTests {
    private func parse(_ line: String) throws -> Invocation {
        let words = line.split(separator: " ").map(String.init)
        guard case .run(let invocation) = try ArgumentParser.parse(words) else {
            Issue.record("not to be run: \(line)")
            return Invocation(verb: .help)
        }
        return invocation
    }

    struct Row: Sendable {
        var line: String
        var arguments: [String] = []
        var options: [OptionName: OptionValue] = [:]
        var globals = GlobalOptions()
    }

    static let rows = [
        Row(line: "up"),
        Row(line: "up a b", arguments: ["a", "b"]),
        Row(line: "up -d a", arguments: ["a"], options: [.detach: .flag]),
        Row(line: "up a --detach", arguments: ["a"], options: [.detach: .flag]),
        Row(line: "up --wait a", arguments: ["a"], options: [.wait: .flag]),
        Row(line: "up --wait=1m30s", options: [.wait: .duration(.seconds(90))]),
        Row(line: "up --wait=1s --wait=2s", options: [.wait: .duration(.seconds(2))]),
        Row(line: "up -- --wait", arguments: ["--wait"]),
        Row(line: "-f a.yaml up", globals: GlobalOptions(file: "a.yaml")),
        Row(line: "-fa.yaml up", globals: GlobalOptions(file: "a.yaml")),
        Row(line: "up -f a.yaml", globals: GlobalOptions(file: "a.yaml")),
        Row(line: "up --file=a=b", globals: GlobalOptions(file: "a=b")),
        Row(
            line: "-f a.yaml logs -f", options: [.follow: .flag],
            globals: GlobalOptions(file: "a.yaml")),
        Row(line: "logs -fn20", options: [.follow: .flag, .lines: .count(20)]),
        Row(line: "logs -n=20", options: [.lines: .count(20)]),
        Row(line: "logs -n 20 a", arguments: ["a"], options: [.lines: .count(20)]),
        Row(line: "--json status", globals: GlobalOptions(json: true)),
        Row(line: "status --json", globals: GlobalOptions(json: true)),
        Row(line: "status --color=never", globals: GlobalOptions(color: .never)),
        Row(line: "signal a sighup", arguments: ["a", "sighup"]),
        Row(line: "signal a RTMIN+1", arguments: ["a", "RTMIN+1"]),
        Row(line: "notify --status -1", options: [.status: .text("-1")]),
        Row(line: "notify --pid", options: [.pid: .flag]),
        Row(line: "notify --pid=12", options: [.pid: .count(12)]),
        Row(line: "notify X_A=b=c", arguments: ["X_A=b=c"]),
        Row(
            line: "wait db --for completed", arguments: ["db"],
            options: [.condition: .text("completed")]),
        Row(line: "events --since 18", options: [.since: .count(18)]),
    ]

    @Test(
        "CLI-5: long, short, joined and attached options, before and after the verb",
        arguments: rows)
    func understands(_ row: Row) throws {
        let found = try parse(row.line)
        #expect(found.arguments == row.arguments)
        #expect(found.options == row.options)
        #expect(found.globals == row.globals)
    }

    @Test(
        "help is found wherever it stands",
        arguments: [
            ("--help", nil), ("-h", nil), ("help", nil), ("help up", Verb.up),
            ("up --help", Verb.up), ("signal -h", Verb.signal), ("up --wait=1s -dh", Verb.up),
            ("signal db --help --nonsense", Verb.signal),
        ] as [(String, Verb?)])
    func help(line: String, verb: Verb?) throws {
        let words = line.split(separator: " ").map(String.init)
        guard case .help(verb, _) = try ArgumentParser.parse(words) else {
            Issue.record("no help: \(line)")
            return
        }
    }

    @Test("after -- nothing is an option")
    func ended() throws {
        guard case .run(let invocation) = try ArgumentParser.parse(["up", "--", "--help"]) else {
            Issue.record("not to be run")
            return
        }
        #expect(invocation.arguments == ["--help"])
    }
}
