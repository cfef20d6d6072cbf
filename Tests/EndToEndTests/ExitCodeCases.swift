import Glibc
import Testing

@Suite("Cases: exit codes", .timeLimit(.minutes(30)))
@BenchActor
struct ExitCodeCases {
    @Test("C44: up ends with 0 when every oneshot finished well")
    func oneshots() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .command("a", ["true"], "type: oneshot"),
                .command("b", ["true"], "type: oneshot", "needs: [a]"),
            ])
            #expect(try await bench.run("up").ending == .exited(0))
        }
    }

    @Test(
        "C44: a failure is a 1 that names the service, not the code of a sibling we stopped",
        arguments: [
            Service.puppet("bad", "--exit 0.2 --code 9", "ready: notify", "restart: no"),
            .puppet(
                "bad", "--exit 0.1 --code 9",
                "restart: {backoff: {initial: 1ms, max: 1ms}, limit: {count: 2, window: 1m}}"),
        ])
    func failure(_ service: Service) async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("sibling"), service])
            let up = try bench.up()
            if service.keys.contains("restart: no") {
                #expect(try await bench.end(of: up) == .exited(1))
            } else {
                try await bench.saw("bad", "exit", count: 3)
                await bench.watch(for: .milliseconds(300))
                #expect(up.ending == nil, "its sibling runs on")
                up.signal(SIGTERM)
                #expect(try await bench.end(of: up) == .exited(1))
            }
            #expect((up.output + up.errors).contains("bad"))
        }
    }

    @Test("C44: Ctrl-C keeps the shell from going on")
    func interrupted() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a")])
            var launch = Launch([
                "/bin/sh", "-c", "\(bench.identity.orchestrator) up && echo 'ne''xt'",
            ])
            launch.isOnTerminal = true
            let shell = try bench.start(launch)
            try await bench.saw("a", "start")
            shell.type("\u{3}")
            try await bench.end(of: shell)
            #expect(!shell.output.contains("next"))
            #expect(shell.ending != .exited(0))
        }
    }

    @Test("C44: stopped by down, up ends with 0, and so does down", arguments: [1, 2])
    func stoppedByDown(round: Int) async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a"), .puppet("b", "", "needs: [a]")])
            let up = try bench.up()
            try await bench.saw("b", "start")
            try await bench.answers()
            try await bench.must("down")
            #expect(try await bench.end(of: up) == .exited(0))
        }
    }

    @Test("C44: an essential service's own code is that of up")
    func essential() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .puppet("a"),
                .puppet(
                    "job", "--exit 0.3 --code 42", "essential: true", "restart: no",
                    "needs: [a]"),
            ])
            let up = try bench.up()
            #expect(try await bench.end(of: up) == .exited(42))
            try await bench.saw("a", "bye")
        }
    }

    @Test(
        "C44: with nothing running the answer is 69, on stderr",
        arguments: ["down", "status", "reload", "events", "logs"])
    func nothingRuns(verb: String) async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a")])
            let program = try await bench.run(verb)
            #expect(program.ending == .exited(69))
            #expect(!program.errors.isEmpty)
            #expect(program.output.isEmpty)
        }
    }

    @Test("C44: up --wait does not wait for what gave up, and leaves the rest running")
    func waitForWhatGaveUp() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .puppet("rest"),
                .puppet(
                    "bad", "--exit 0 --code 9", "ready: notify", "onStartFailure: keep",
                    "restart: no"),
            ])
            let up = try await bench.run("up", "--wait")
            #expect(up.ending == .exited(1))
            #expect(up.errors.contains("bad exited with code 9 before it was ready"))
            #expect(up.errors.contains("The rest runs on"))
            #expect(try await bench.states()["rest"] == "up")
            try await bench.must("down")
        }
    }

    @Test("CLI-29: who follows a project exits with 0 at its end; events and why outlive it")
    func followed() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a")])
            try await bench.must("up", "--wait")
            let events = try bench.start(Launch(bench.arguments(["events", "-f"])))
            let logs = try bench.start(Launch(bench.arguments(["logs", "-f"])))
            try await bench.printed("everything is up", by: events)
            try await bench.must("down")
            #expect(try await bench.end(of: events) == .exited(0), "\(events.errors)")
            #expect(try await bench.end(of: logs) == .exited(0), "\(logs.errors)")
            #expect(events.output.contains("everything has ended"))

            #expect(try await bench.must("events").output.contains("everything has ended"))
            #expect(try await bench.must("why", "a").output.contains("a has stopped"))
            #expect(try await bench.run("events", "-f").ending == .exited(69))
        }
    }
}
