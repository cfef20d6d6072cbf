import Glibc
import Testing

@Suite("Cases: dependencies and restart policy", .timeLimit(.minutes(30)))
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
            for start in bench.all("c", "start") { #expect(!start.isAlive, "c is stopped again") }
            let reason =
                switch how {
                case "code 0": "exited with code 0"
                case "no such command":
                    "cannot run /no/such/command: there is no such file or directory"
                default: "exited with code 1"
                }
            let said = (up.output + up.errors).split(separator: "\n")
            #expect(said.contains { $0.contains("a ") && $0.contains(reason) }, "\(said)")
            #expect(bench.told("service.failed", "a").first?.message.contains(reason) == true)
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

    @Test("C16: a oneshot that finished runs again by restart, which says so and returns")
    func restartedOneshot() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .puppet("m", "--exit 0", "type: oneshot"), .puppet("b", "", "needs: [m]"),
            ])
            let up = try bench.up()
            try await bench.saw("b", "start")
            try await bench.answers()
            #expect(try await bench.must("restart", "m").output == "m is ready\n")
            try await bench.saw("m", "exit", count: 2)
            #expect(bench.all("b", "start").count == 1, "it runs on")
            try await bench.must("down")
            #expect(try await bench.end(of: up) == .exited(0))
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

    /// Fails in turn by its code, by a signal and by a probe that never succeeds.
    private static func failing(_ bench: Bench) -> Service {
        .script(
            "a",
            """
            n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) >n
            case $((n % 3)) in
            0) touch fine; exec PUPPET a --pause 0.15 --exit 0 --code 1;;
            1) touch fine; (sleep 0.1; rm fine) & exec PUPPET a --pause 0.2 --signal-self SEGV;;
            2) exec PUPPET a;;
            esac
            """, "ready: {exec: [test, -e, fine]}", "startTimeout: 200ms", "stopTimeout: 500ms",
            "onStartFailure: keep",
            "restart: {policy: always, limit: {count: 5, window: 1m}, "
                + "backoff: {initial: 100ms, factor: 2, max: 1s, jitter: 0}}")
    }

    @Test("C17: the limit of restarts holds for any mix of causes")
    func limitBites() async throws {
        try await withBench { bench in
            try bench.config(services: [Self.failing(bench)])
            let up = try bench.up()
            #expect(try await bench.end(of: up, within: .seconds(20)) == .exited(1))
            #expect(bench.all("a", "start").count == 6)
            #expect((up.output + up.errors).contains("gave up"))
            #expect(bench.told("service.gaveUp", "a").count == 1)
            let failures = bench.told("service.failed", "a").map(\.message)
            for cause in ["a exited with code 1", "SIGSEGV", "not ready within"] {
                #expect(failures.count { $0.contains(cause) } == 2, "\(cause): \(failures)")
            }
            // From each end to the next start: 100, 200, 400 and 800 ms, then the cap of 1 s.
            let ends = bench.all("a").filter {
                ["exit", "signals-itself", "bye"].contains($0.event)
            }
            let gaps = zip(ends, bench.all("a", "start").dropFirst()).map {
                $1.milliseconds - $0.milliseconds
            }
            #expect(gaps.count == 5)
            for (gap, least) in zip(gaps, [100, 200, 400, 800, 1_000]) {
                #expect(gap >= least - 60 && gap < least + 600, "\(gaps)")
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
