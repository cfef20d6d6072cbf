import CBench
import Glibc
import Testing

@Suite("Cases: verbs and clients at bad moments", .timeLimit(.minutes(30)))
@BenchActor
struct ControlCases {
    @Test("CTL-49: a stop by name answers when all that it stops is gone")
    func stopTakesAlong() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .script("m", "true", "type: oneshot"),
                .puppet("x", "--term slow:1", "start: manual"),
                .puppet("api", "--term slow:1", "needs: [m, x]"),
                // Without it everything wanted would have ended, and the project with it.
                .puppet("other"),
            ])
            let up = try bench.up()
            try await bench.saw("api", "start")
            try await bench.must("wait", "api", "--for", "ready")
            // It has ended long ago; what needs it has not.
            try await bench.must("stop", "m")
            #expect(bench.all("api", "bye").count == 1)
            #expect(try await bench.states()["api"] == "waiting")
            try await bench.must("start", "m")
            try await bench.must("wait", "api", "--for", "ready")
            // Nobody wants x without it.
            try await bench.must("down", "api")
            let states = try await bench.states()
            #expect(states["x"] == "stopped" && states["api"] == "stopped", "\(states)")
            try await bench.must("down")
            try await bench.end(of: up)
        }
    }

    @Test("CTL-49: a stop that a start overtakes is answered all the same")
    func overtaken() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a", "--term slow:1"), .puppet("b")])
            let up = try bench.up()
            try await bench.saw("a", "start")
            try await bench.answers()
            let stop = try bench.start(Launch(bench.arguments(["stop", "a"])))
            try await bench.saw("a", "got", "SIGTERM")
            try await bench.must("start", "a")
            #expect(try await bench.end(of: stop, within: .seconds(5)) == .exited(0))
            try await bench.saw("a", "start", count: 2)
            try await bench.must("down")
            try await bench.end(of: up)
        }
    }

    @Test("CTL-46: a misspelt body does nothing")
    func misspelt() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a"), .puppet("b")])
            let up = try bench.up()
            try await bench.saw("b", "start")
            try await bench.answers()
            for body in ["{\"name\":[\"a\"]}", "{\"names\":\"a\"}", "[]", "{\"names\":[1]}"] {
                #expect(bench.ask("POST", "/v1/down", body).hasPrefix("HTTP/1.1 400 "), "\(body)")
            }
            for query in ["logs?tail=-1", "logs?since=nan", "events?level=loud", "events?since=-1"]
            {
                #expect(bench.ask("GET", "/v1/\(query)").hasPrefix("HTTP/1.1 400 "), "\(query)")
            }
            #expect(try await bench.states() == ["a": "up", "b": "up"])
            try await bench.must("down")
            try await bench.end(of: up)
        }
    }

    @Test("CTL-48: clients that follow and read nothing keep nobody from stopping the project")
    func stuckFollowers() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .script("a", "while :; do echo tick; sleep 0.1; done")
            ])
            let up = try bench.up()
            try await bench.answers()
            let sockets = (0..<200).compactMap { _ in
                bench.openRequest("GET", "/v1/logs?follow&tail=1")
            }
            #expect(sockets.count > 96)
            // Each becomes a follower once its log was opened, which a busy engine comes to later.
            try await bench.wait("every place to be taken", within: .seconds(20)) { bench in
                bench.ask("GET", "/v1/events?follow").contains("96 clients follow already")
            }
            try await bench.must("down")
            #expect(try await bench.end(of: up) == .exited(0))
            for socket in sockets { close(socket) }
        }
    }

    @Test("CTL-52: the end of the engine does not wait for logs that are being read")
    func endsWhileReading() async throws {
        try await withBench { bench in
            let line = String(repeating: "x", count: 60)
            try bench.config(services: [
                .script("m", "yes \(line) | head -n 80000", "type: oneshot"), .puppet("a"),
            ])
            let up = try bench.up()
            try await bench.must("wait", "m", "--for", "completed", within: .seconds(60))
            let sockets = (0..<16).compactMap { _ in bench.openRequest("GET", "/v1/logs") }
            try await bench.must("status")
            up.signal(SIGTERM)
            // Sixteen reads of eighty thousand lines take a debug build half a minute.
            #expect(try await bench.end(of: up, within: .seconds(8)) == .exited(0))
            for socket in sockets { close(socket) }
        }
    }

    @Test("CLI-25: of several up --detach at once all succeed, and one engine runs")
    func detachedTogether() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a")])
            for round in 1...5 {
                let all = try (0..<4).map { _ in
                    try bench.start(Launch(bench.arguments(["up", "-d"])))
                }
                for program in all {
                    let ending = try await bench.end(of: program)
                    #expect(ending == .exited(0), "\(program.output)\(program.errors)")
                    #expect(!program.errors.contains("error"), "\(program.errors)")
                }
                try await bench.saw("a", "start", count: round)
                try await bench.must("down")
                #expect(bench.all("a", "start").count == round)
            }
        }
    }

    @Test("CLI-28: when down has answered, up can take the project")
    func upAfterDown() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a")])
            for round in 1...8 {
                try await bench.must("up", "-d", "--wait")
                try await bench.saw("a", "start", count: round)
                try await bench.must("down")
                #expect(Scratch.locks(under: bench.path("state")).isEmpty)
            }
        }
    }

    @Test("CTL-50: an up beside a down runs or says who does, never anything else")
    func upDuringDown() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a")])
            var running = try bench.up()
            try await bench.answers()
            for _ in 0..<12 {
                let down = try bench.start(Launch(bench.arguments(["down"])))
                var next = try bench.up()
                while next.ending == nil, running.ending == nil || down.ending == nil {
                    await bench.watch(for: .milliseconds(5))
                }
                // It may have found the project taken in the last moment, and be about to say so.
                if next.ending == nil { try await bench.answers(orEnded: next) }
                if let ending = next.ending {
                    #expect(ending == .exited(77))
                    #expect(next.errors.contains("already run"), "\(next.errors)")
                    #expect(try await bench.end(of: running) == .exited(0))
                    next = try bench.up()
                }
                try await bench.answers()
                running = next
            }
            try await bench.must("down")
            try await bench.end(of: running)
        }
    }

    @Test("CLI-26: an engine that does not answer is never said not to run")
    func deaf() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a")])
            let up = try bench.up()
            try await bench.saw("a", "start")
            try await bench.answers()
            let socket = try #require(bench.controlSocket)
            up.signal(SIGSTOP)
            Scratch.remove(socket)
            let status = try bench.start(Launch(bench.arguments(["status"])))
            #expect(try await bench.end(of: status) == .exited(75), "\(status.errors)")
            #expect(status.errors.contains("does not answer"))
            // It makes the socket again; a verb that was asked before waits for it.
            let down = try bench.start(Launch(bench.arguments(["down"])))
            up.signal(SIGCONT)
            #expect(try await bench.end(of: down) == .exited(0), "\(down.errors)")
            try await bench.end(of: up)
        }
    }

    @Test("CTL-8: the runtime directories are removed, and the engine is found again")
    func runtimeRemoved() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a")])
            let up = try bench.up()
            try await bench.saw("a", "start")
            try await bench.answers()
            Scratch.remove(bench.path("run/orchestrator"))
            try await bench.must("status")
            try await bench.must("restart", "a")
            try await bench.must("down")
            #expect(try await bench.end(of: up) == .exited(0))
        }
    }

    @Test("CLI-27: with closed standard descriptors no answer reaches the engine's socket")
    func closedOutput() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a")])
            let up = try bench.up()
            try await bench.saw("a", "start")
            try await bench.answers()
            for verb in [["events"], ["status"], ["stop", "a"]] {
                for closed: Set<Int> in [[1], [0, 1], [0, 1, 2]] {
                    var launch = Launch(bench.arguments(verb))
                    launch.closed = closed
                    let program = try bench.start(launch)
                    #expect(try await bench.end(of: program) == .exited(70), "\(verb) \(closed)")
                }
            }
            try await bench.must("down")
            #expect(try await bench.end(of: up) == .exited(0))
            #expect(!up.output.contains("refused a control request"), "\(up.output)")
        }
    }
}
