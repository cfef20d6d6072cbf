import CBench
import Glibc
import Testing

/// Programs as services of a graph: `Tests/Fixtures/foreman` runs puppets.
@Suite("Programs as services", .timeLimit(.minutes(30)))
@BenchActor
struct SubprocessCases {
    /// Starts a graph of puppets, each given as its flags.
    private func start(_ bench: Bench, _ options: [String], _ puppets: [String]...) throws
        -> Program
    {
        var words = [Identity.ours.programs + "/foreman"] + options
        for (name, flags) in zip(["first", "second"], puppets) {
            words += ["--", bench.identity.puppet, name] + flags
        }
        var launch = Launch(words)
        launch.identity = .ours
        return try bench.start(launch)
    }

    private func up(_ bench: Bench, _ options: [String], _ puppets: [String]...) async throws
        -> Program
    {
        let program =
            puppets.count == 1
            ? try start(bench, options, puppets[0])
            : try start(bench, options, puppets[0], puppets[1])
        try await bench.printed("all up", by: program)
        return program
    }

    private let ready = ["--ready", "0"]

    @Test(
        "SPR-1: programs start when what they need is ready, and stop in reverse; nothing is left")
    func order() async throws {
        try await withBench { bench in
            let values = ["--notify", "READY=1\\nVALUE_port=4711"]
            let program = try await up(bench, [], values, ready)
            #expect(program.output.contains(" port=4711\n"))
            let sent = try await bench.saw("first", "sent")
            let second = try await bench.saw("second", "start")
            #expect(sent.milliseconds <= second.milliseconds)
            program.signal(SIGTERM)
            #expect(try await bench.end(of: program) == .exited(0))
            let bye = try await bench.saw("second", "bye")
            let asked = try await bench.saw("first", "got", "SIGTERM")
            #expect(bye.milliseconds <= asked.milliseconds)
            try await bench.saw("first", "bye")
            #expect(program.output.contains("ending signal 15"))
            for told in [
                "process.launched service=first pid=", "process.launched service=second pid=",
                "process.signalled service=second signal=15",
                "process.signalled service=first signal=15",
                "process.exited service=second status=", "process.exited service=first status=",
            ] { #expect(program.errors.contains(told), "\(program.errors)") }
        }
    }

    @Test("SPR-2: a program that cannot be started is named with the reason; the rest is stopped")
    func missing() async throws {
        try await withBench { bench in
            var launch = Launch(
                [Identity.ours.programs + "/foreman", "--", bench.identity.puppet, "first"] + ready
                    + ["--", "/no/such/program"])
            launch.identity = .ours
            let program = try bench.start(launch)
            #expect(try await bench.end(of: program) == .exited(1))
            #expect(
                program.errors.contains("second: cannot run /no/such/program"),
                "\(program.errors)")
            #expect(program.errors.contains("service.startFailed service=second"))
            try await bench.saw("first", "bye")
        }
    }

    @Test("SPR-3: a program that ends before it is ready fails its start")
    func endsEarly() async throws {
        try await withBench { bench in
            let program = try start(bench, [], ["--exit", "0.1", "--code", "3"])
            #expect(try await bench.end(of: program) == .exited(1))
            #expect(program.errors.contains("first ended before it was ready: exit code 3"))
            #expect(program.errors.contains("warning foreman/first process.exited service=first"))
        }
    }

    @Test("SPR-4: a program that is never ready is stopped when its time is over")
    func neverReady() async throws {
        try await withBench { bench in
            let program = try start(bench, ["--start", "0.5"], [])
            #expect(try await bench.end(of: program) == .exited(1))
            try await bench.saw("first", "got", "SIGTERM")
            try await bench.saw("first", "bye")
            #expect(program.errors.contains("service.startTimedOut service=first"))
        }
    }

    @Test(
        "SPR-5: a program that ends while it is needed ends the graph, which says how",
        arguments: [("KILL", "signal 9"), ("0", "exit code 0")])
    func dies(how: String, words: String) async throws {
        try await withBench { bench in
            let flags = how == "0" ? ready + ["--exit", "0.5"] : ready
            let program = try await up(bench, [], flags, ready)
            let first = try await bench.saw("first", "start")
            if how == "KILL" { kill(first.pid, SIGKILL) }
            #expect(try await bench.end(of: program) == .exited(1))
            try await bench.saw("second", "bye")
            #expect(program.output.contains("ending work beside it failed"), "\(program.output)")
            #expect(program.errors.contains("failure: first ended: \(words) [process.ended]"))
            #expect(program.errors.contains("warning foreman/first process.exited service=first"))
        }
    }

    @Test("SPR-6: a program that ignores its signal is killed when its time is over")
    func stubborn() async throws {
        try await withBench { bench in
            let program = try await up(
                bench, ["--stop", "1.5"], ready + ["--term", "ignore"])
            program.signal(SIGTERM)
            #expect(try await bench.end(of: program) == .exited(0))
            try await bench.saw("first", "got", "SIGTERM")
            #expect(program.errors.contains("process.killed service=first"))
            #expect(!program.errors.contains("stopTimedOut"), "\(program.errors)")
        }
    }

    @Test(
        "SPR-7: what a program leaves behind is stopped with it, whatever session it is in",
        arguments: ["stubborn", "setsid", "doublefork"])
    func tree(kid: String) async throws {
        try await withBench { bench in
            let program = try await up(bench, ["--stop", "2"], ready + ["--kid", kid])
            let child = try await bench.saw("first-kid", "start")
            program.signal(SIGTERM)
            #expect(try await bench.end(of: program) == .exited(0))
            #expect(!child.isAlive)
            #expect(program.errors.contains("process.killed service=first"), "\(program.errors)")
        }
    }

    @Test("SPR-8: a program with a control channel is asked by a message, and spared the signal")
    func channel() async throws {
        try await withBench { bench in
            let program = try await up(bench, ["--control"], ready + ["--control"])
            program.signal(SIGTERM)
            #expect(try await bench.end(of: program) == .exited(0))
            let heard = try await bench.saw("first", "channel")
            #expect(heard.extra.contains("STOP=1"), "\(heard)")
            try await bench.saw("first", "answered")
            #expect(bench.all("first", "got").isEmpty)
            #expect(program.errors.contains("process.stopSent service=first"))
        }
    }

    @Test("SPR-9: a budget that is shorter than the stop cuts it, SIGKILL included")
    func budget() async throws {
        try await withBench { bench in
            let program = try await up(
                bench, ["--stop", "30", "--budget", "2"], ready + ["--term", "ignore"])
            let begun = Moment.now
            program.signal(SIGTERM)
            #expect(try await bench.end(of: program) == .exited(0))
            #expect(Moment.now - begun < .seconds(10))
            #expect(program.errors.contains("process.killed service=first"))
        }
    }

    @Test("SPR-10: who does not want to wait asks twice: SIGKILL at once")
    func force() async throws {
        try await withBench { bench in
            let program = try await up(
                bench, ["--stop", "60", "--budget", "60"], ready + ["--term", "ignore"])
            program.signal(SIGTERM)
            try await bench.saw("first", "got", "SIGTERM")
            await bench.watch(for: .milliseconds(600))
            program.signal(SIGTERM)
            #expect(try await bench.end(of: program, within: .seconds(20)) == .exited(0))
            #expect(program.errors.contains("process.killed service=first"))
        }
    }

    @Test("SPR-11: a stop during the start takes the program back")
    func stoppedWhileStarting() async throws {
        try await withBench { bench in
            let program = try start(bench, ["--start", "60"], ready, [])
            try await bench.saw("second", "start")
            program.signal(SIGTERM)
            #expect(try await bench.end(of: program) == .exited(0))
            try await bench.saw("second", "bye")
            try await bench.saw("first", "bye")
            #expect(!program.output.contains("all up"))
            #expect(program.errors.contains("service.startCancelled service=second"))
        }
    }

    @Test("SPR-12: a child that this program makes in another way keeps its status")
    func beside() async throws {
        try await withBench { bench in
            let program = try start(
                bench, ["--also", "exit 7"], ready + ["--kid", "doublefork", "--exit", "2"])
            try await bench.printed("beside: code 7", by: program)
            program.signal(SIGTERM)
            _ = try await bench.end(of: program)
        }
    }

    @Test("SPR-13: a program whose owner is killed hears its death signal")
    func orphaned() async throws {
        try await withBench { bench in
            let program = try await up(bench, [], ready)
            // Whoever is killed cannot remove its sockets.
            bench.expectsCleanEnd = false
            program.signal(SIGKILL)
            #expect(try await bench.end(of: program) == .killed(SIGKILL))
            try await bench.saw("first", "got", "SIGTERM")
            try await bench.saw("first", "bye")
        }
    }

    @Test("SPR-14: a program that shall only run is up as soon as it does")
    func started() async throws {
        try await withBench { bench in
            let program = try await up(bench, ["--started"], [])
            program.signal(SIGTERM)
            #expect(try await bench.end(of: program) == .exited(0))
            #expect(program.errors.contains("process.launched service=first pid="))
            // It may not have come to catching the signal, so it need not have said anything.
            #expect(program.errors.contains("process.exited service=first"))
        }
    }

    @Test("SPR-15: a program sees the variables it was given, and no others")
    func environment() async throws {
        try await withBench { bench in
            bench.environment["SECRET"] = "hidden"
            let file = bench.path("variables")
            let program = try await up(bench, [], ["--print-env", file] + ready)
            let names = bench.read("variables").split(separator: "\0").compactMap {
                $0.split(separator: "=").first.map(String.init)
            }
            let usual: Set = [
                "PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR", "PLOG", "NOTIFY_SOCKET",
                "ORCHESTRATOR_SERVICE", "ORCHESTRATOR_INCARNATION",
            ]
            #expect(names.contains("NOTIFY_SOCKET") && usual.isSuperset(of: names), "\(names)")
            program.signal(SIGTERM)
            #expect(try await bench.end(of: program) == .exited(0))
        }
    }

    @Test("SPR-16: a stranger's READY is refused, and said")
    func stranger() async throws {
        try await withBench { bench in
            let file = bench.path("socket")
            let program = try start(
                bench, ["--start", "3"], ["--store-notify", file])
            try await bench.saw("first", "stored")
            #expect(unsafe cbench_send(bench.read("socket"), "READY=1") == 0)
            #expect(try await bench.end(of: program) == .exited(1))
            #expect(!program.output.contains("all up"))
            #expect(program.errors.contains("process.messageRefused service=first"))
        }
    }

    @Test("SPR-17: a stop that comes at any moment of the start leaves nothing, and is no failure")
    func anyMoment() async throws {
        for step in 0..<16 {
            try await withBench { bench in
                let program = try start(bench, [], ready, ready)
                await bench.watch(for: .milliseconds(step * 7))
                program.signal(SIGTERM)
                let ending = try await bench.end(of: program)
                // Before it catches signals it ends by this one, and nothing has started.
                let isEarly = ending == .killed(SIGTERM) && bench.events.isEmpty
                #expect(isEarly || ending == .exited(0), "\(program.errors)")
            }
        }
    }
}
