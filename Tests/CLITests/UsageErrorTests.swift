import Testing

@testable import OrchestratorCLI

@Suite("Usage errors", .timeLimit(.minutes(1)))
struct UsageErrorTests {
    static let lines = [
        "", "statsu", "upp", "frobnicate", "u", "comp", "--jsn", "--file", "--file= up --json=1",
        "up --detatch", "up -x", "up -detach", "up --wait=5", "up --wait=", "up --wait 5s -q",
        "up --color red", "--color alway status", "down --now api", "down --nwo", "status --follow",
        "logs -n", "logs -n ten", "logs --lines=-1", "logs -fz", "start", "stop", "restart",
        "signal", "signal db", "signal db HUPP", "signal db HUP extra", "signal db HUP --to all",
        "signal db HUP --to tee", "signal db -9", "reload db", "plan now", "check -v",
        "simulate --kill db", "simulate --kill db@5", "simulate --kill @5s", "simulate --stop@30s",
        "simulate --stop 30", "simulate --stop@30", "simulate --sleep 10m",
        "simulate --sleep 10@1m",
        "simulate --slow-start api", "simulate --exit api=300@5s", "simulate --kil db@5s",
        "simulate --seed 1 --seeds 2", "simulate --fail-launch api=0", "simulate --until 5",
        "graph --format svg", "graph --format mermad", "graph x", "config x", "schema x",
        "events --since yesterday", "events db", "why", "why a b", "wait", "wait db --for redy",
        "wait db --timeout 5", "wait db --for", "wait db --for --timeout 5s", "why a b",
        "notify", "notify READY", "notify ready=1", "notify VALUE_url=x VALUE_Port2=y=z",
        "notify VALUE_a-b=1", "notify --pid=0", "notify --extend 10",
        "version x", "completion", "completion bsh", "completion bash zsh", "help uup",
        "help up down", "up -- --detach --", "-f", "-", "up '' ",
    ]

    @Test("CLI-4: each is one line and where the help is, with exit code 64")
    func golden() throws {
        var text = ""
        for line in Self.lines {
            text += "$ orchestrator \(line)\n"
            do {
                let parsed = try ArgumentParser.parse(words(line))
                text += "(understood: \(summary(parsed)))\n\n"
            } catch {
                let failure = Failure(error)
                #expect(failure.code.number == 64)
                #expect(!failure.message.contains("\n"))
                text += failure.text(.plain) + "\n" + failure.json + "\n\n"
            }
        }
        try GoldenFile("usage-errors.txt").expect(text)
    }

    private func words(_ line: String) -> [String] {
        line.split(separator: " ").map { $0 == "''" ? "" : String($0) }
    }

    private func summary(_ line: ParsedLine) -> String {
        switch line {
        case .run(let invocation): "\(invocation.verb.rawValue) \(invocation.arguments)"
        case .help: "help"
        case .version: "version"
        }
    }

    @Test("what was typed cannot write to the terminal")
    func escapes() {
        let failure = Failure(UsageError.unknownVerb("\u{1B}[2J\u{7}up"))
        #expect(failure.text(.plain).contains("\"\\x1b[2J\\x07up\""))
    }

    @Test(
        "did you mean",
        arguments: [
            ("statsu", "status"), ("donw", "down"), ("strat", "start"), ("UP", "up"),
            ("comp", "completion"), ("xyz", nil), ("", nil), ("q", nil),
        ])
    func suggestion(typed: String, meant: String?) {
        #expect(nearest(to: typed, among: Verb.allCases.map(\.rawValue)) == meant)
    }
}
