import Glibc
import Testing

@Suite("Cases: dependencies and restart policy", .timeLimit(.minutes(3)))
@BenchActor
struct RestartCases {
    @Test(
        "C15: the wait for a need ends with its death",
        arguments: ["code 1", "code 0", "oneshot", "no such command"])
    func needDies(_ how: String) async throws {
        try await withBench { bench in
            let keys = ["ready: notify", "startTimeout: 60s", "restart: no"]
            let a: Service =
                switch how {
                case "code 1": .puppet("a", "--exit 0.3 --code 1", keys[0], keys[1], keys[2])
                case "code 0": .puppet("a", "--exit 0.3", keys[0], keys[1], keys[2])
                case "oneshot": .puppet("a", "--exit 0.3 --code 1", "type: oneshot")
                default: .command("a", ["/no/such/command"], keys[0], keys[1], keys[2])
                }
            try bench.config(services: [a, .puppet("b", "", "needs: [a]"), .puppet("c")])
            let up = try bench.up()
            #expect(try await bench.end(of: up, within: .seconds(5)) == .exited(1))
            let ended = try #require(up.ended)
            if let exit = bench.all("a", "exit").first {
                #expect(ended - .milliseconds(exit.milliseconds) < .seconds(1))
            } else {
                #expect(ended - up.begun < .seconds(2))
            }
            #expect(bench.all("b").isEmpty)
            let said = up.output + up.errors
            #expect(said.contains("a"))
            #expect(said.contains(how == "no such command" ? "/no/such/command" : "code"))
        }
    }

    @Test("C15: Ctrl-C ends the wait as well")
    func interruptedWait() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .puppet("a", "", "ready: notify", "startTimeout: 60s"),
                .puppet("b", "", "needs: [a]"), .puppet("c"),
            ])
            let up = try bench.up { $0.isOnTerminal = true }
            try await bench.saw("a", "start")
            try await bench.saw("c", "start")
            up.type("\u{3}")
            #expect(try await bench.end(of: up, within: .seconds(5)) == .exited(130))
            #expect(bench.all("b").isEmpty)
        }
    }

    @Test("C16: a oneshot that finished is complete, not crashed")
    func completedOneshot() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .puppet("m", "--exit 0.2", "type: oneshot"), .puppet("b", "", "needs: [m]"),
            ])
            let up = try bench.up()
            let exit = try await bench.saw("m", "exit")
            #expect(try await bench.saw("b", "start").milliseconds >= exit.milliseconds)
            let status = try await bench.must("status")
            #expect(status.output.contains("completed"))
            try await bench.must("down")
            #expect(try await bench.end(of: up) == .exited(0))
            #expect(bench.all("m", "start").count == 1)
            #expect(bench.all("m", "got").isEmpty)
        }
    }

    @Test("C16: a changed policy counts from the next exit on")
    func changedPolicy() async throws {
        try await withBench { bench in
            @BenchActor func write(_ policy: String) throws {
                try bench.config(services: [
                    .script(
                        "l", "echo x >>tries; sleep 0.1; exit 1",
                        "restart: {policy: \(policy), backoff: {initial: 200ms, max: 200ms}, "
                            + "limit: {count: 1000, window: 1m}}"),
                    .puppet("b"),
                ])
            }
            try write("always")
            let up = try bench.up()
            try await bench.wait("l to loop") { $0.read("tries").count >= 6 }
            try write("no")
            try await bench.must("reload")
            let tries = bench.read("tries").count
            await bench.watch(for: .milliseconds(1_200))
            #expect(bench.read("tries").count <= tries + 2)
            #expect(bench.all("b", "start").count == 1)
            try await bench.must("down")
            try await bench.end(of: up)
        }
    }

    @Test("C17: the limit of restarts holds for any mix of causes")
    func limitBites() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .script(
                    "a",
                    """
                    n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) >n
                    case $((n % 3)) in
                    0) exec PUPPET a --exit 0.05 --code 1;;
                    1) exec PUPPET a --pause 0.05 --signal-self SEGV;;
                    2) exec PUPPET a --notify READY=1 --watchdog 0.05 --silent 0.1;;
                    esac
                    """, "watchdog: 100ms", "stopTimeout: 500ms",
                    "restart: {policy: always, limit: {count: 5, window: 1m}, "
                        + "backoff: {initial: 100ms, factor: 2, max: 400ms, jitter: 0}}")
            ])
            let up = try bench.up()
            #expect(try await bench.end(of: up, within: .seconds(15)) == .exited(1))
            #expect(bench.all("a", "start").count == 6)
            #expect((up.output + up.errors).contains("gave up"))
            let starts = bench.all("a", "start").map(\.milliseconds)
            let exits = bench.all("a").filter { ["exit", "signals-itself"].contains($0.event) }
            #expect(exits.count >= 4)
            let gaps = exits.compactMap { exit in
                starts.first { $0 > exit.milliseconds }.map { $0 - exit.milliseconds }
            }
            for (gap, next) in zip(gaps, gaps.dropFirst()) where next < 350 {
                #expect(next >= gap - 60, "gaps never shrink: \(gaps)")
            }
        }
    }

    @Test("C17: after a stable time the count starts anew")
    func countStartsAnew() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .script(
                    "a",
                    """
                    n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) >n
                    test $n = 2 && exec PUPPET a --exit 2.2 --code 1
                    exec PUPPET a --exit 0.05 --code 1
                    """,
                    "restart: {policy: always, limit: {count: 2, window: 2s}, "
                        + "backoff: {initial: 10ms, max: 10ms}}")
            ])
            let up = try bench.up()
            #expect(try await bench.end(of: up, within: .seconds(15)) == .exited(1))
            #expect(bench.all("a", "start").count == 5)
        }
    }
}
