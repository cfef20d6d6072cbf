import Glibc
import Testing

@Suite("Cases: signals to up, stops at bad moments", .timeLimit(.minutes(30)))
@BenchActor
struct StopSignalCases {
    private static let interrupt = "\u{3}"

    @Test("C07: Ctrl-C reaches the services only through us")
    func interruptIsOrdered() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .puppet("a", "--term slow:0.5"), .puppet("b", "--term slow:0.5", "needs: [a]"),
            ])
            let up = try bench.up { $0.isOnTerminal = true }
            try await bench.saw("b", "start")
            up.type(Self.interrupt)
            #expect(try await bench.end(of: up) == .exited(130))
            #expect(bench.events.filter { $0.extra.hasPrefix("SIGINT") }.isEmpty)
            #expect(bench.all("a", "got").map(\.milliseconds).count == 1)
            #expect(bench.all("b", "got").map(\.milliseconds).count == 1)
            let bye = try await bench.saw("b", "bye")
            let asked = try await bench.saw("a", "got", "SIGTERM")
            #expect(asked.milliseconds >= bye.milliseconds)
        }
    }

    @Test("C08: a second Ctrl-C kills, a third changes nothing", arguments: [false, true])
    func impatience(betweenStops: Bool) async throws {
        try await withBench { bench in
            let b = betweenStops ? "--term slow:0.8" : ""
            try bench.config(services: [
                .puppet("a", "--term ignore", "stopTimeout: 25s"), .puppet("b", b, "needs: [a]"),
            ])
            let up = try bench.up { $0.isOnTerminal = true }
            try await bench.saw("b", "start")
            up.type(Self.interrupt)
            if betweenStops {
                try await bench.saw("b", "bye")
            } else {
                try await bench.saw("a", "got", "SIGTERM")
                await bench.watch(for: .seconds(1))
                #expect(up.output.contains("Ctrl-C"), "the screen says what another press does")
            }
            let pressed = Moment.now
            up.type(Self.interrupt)
            await bench.watch(for: .milliseconds(50))
            up.type(Self.interrupt)
            let ending = try await bench.end(of: up, within: .seconds(5))
            #expect(ending == .exited(130))
            let ended = try #require(up.ended)
            #expect(ended - pressed < .seconds(2))
            #expect(bench.journal.filter { $0.name == "project.forced" }.count == 1)
        }
    }

    @Test("C09: SIGTERM while starting is never lost", arguments: [0, 5, 20, 100, 500, 2_000])
    func stoppedWhileStarting(milliseconds: Int) async throws {
        try await withBench { bench in
            try bench.config(services: Self.neverReady)
            for _ in 0..<(milliseconds < 500 ? 30 : 2) {
                let before = bench.events.count
                let up = try bench.up()
                await bench.watch(for: .milliseconds(milliseconds))
                up.signal(SIGTERM)
                let ending = try await bench.end(of: up, within: .seconds(5))
                // Before the program has put its handlers up, the kernel answers for it.
                let isEarly = ending == .killed(SIGTERM) && bench.events.count == before
                #expect(ending == .exited(0) || isEarly, "\(ending)")
            }
            #expect(bench.all("b").isEmpty)
        }
    }

    @Test(
        "C09: down while starting is honoured or refused", arguments: [0, 5, 20, 100, 500, 2_000])
    func downWhileStarting(milliseconds: Int) async throws {
        try await withBench { bench in
            try bench.config(services: Self.neverReady)
            for _ in 0..<(milliseconds < 500 ? 8 : 1) {
                let up = try bench.up()
                await bench.watch(for: .milliseconds(milliseconds))
                let down = try await bench.run("down")
                if down.ending == .exited(0) {
                    #expect(try await bench.end(of: up, within: .seconds(3)) == .exited(0))
                } else {
                    #expect(down.ending == .exited(69))
                    #expect(!down.errors.isEmpty)
                    try await bench.answers()
                    up.signal(SIGTERM)
                    try await bench.end(of: up, within: .seconds(3))
                }
            }
            #expect(bench.all("b").isEmpty)
        }
    }

    private static let neverReady: [Service] = [
        .puppet("a", "", "ready: notify", "startTimeout: 60s"),
        .puppet("b", "", "needs: [a]"),
        .puppet("c", "--ready 5", "ready: notify"),
    ]

    @Test("C10: a stop during the backoff takes the timer back", arguments: [true, false])
    func stopDuringBackoff(single: Bool) async throws {
        try await withBench { bench in
            try bench.config(services: [
                .script(
                    "a", "echo x >>tries; exit 1",
                    "restart: {backoff: {initial: 2s, max: 2s, jitter: 0}}"),
                .puppet("b"),
            ])
            let up = try bench.up()
            try await bench.wait("a try") { $0.read("tries") == "x\n" }
            try await bench.poll("status", "a") { $0.contains("backing off") }
            bench.settle(up)
            let words = single ? ["down", "a"] : ["down"]
            let down = try bench.start(Launch(bench.arguments(words)))
            #expect(try await bench.end(of: down) == .exited(0))
            let tries = bench.read("tries")
            let asked = try #require(bench.journal.last { $0.name == "command.accepted" })
            let ended = try #require(down.ended)
            #expect(ended - .milliseconds(asked.milliseconds) < .milliseconds(500))
            if single {
                let status = try await bench.must("status", "a")
                #expect(status.output.contains("stopped"), "\(status.output)")
            }
            await bench.watch(for: .milliseconds(2_500))
            #expect(bench.read("tries") == tries)
            #expect(!(down.output + down.errors).contains("pid"))
            if single {
                #expect(bench.all("b", "got").isEmpty)
            } else {
                try await bench.end(of: up)
            }
        }
    }

    @Test(
        "C11: an exit that was asked for is a stop, and nothing is launched again",
        arguments: ["--term slow:1", "--term exit1", "--term segv"], [true, false])
    func noRespawnDuringStop(flags: String, single: Bool) async throws {
        try await withBench { bench in
            try bench.config(services: [
                .puppet(
                    "a", flags, "stopTimeout: 5s",
                    "restart: {policy: always, backoff: {initial: 0s, max: 0s}}"),
                .puppet("b"),
            ])
            let up = try bench.up()
            try await bench.saw("a", "start")
            try await bench.saw("b", "start")
            try await bench.answers()
            if single {
                try await bench.must("down", "a")
                await bench.watch(for: .milliseconds(300))
                let status = try await bench.must("status", "a")
                #expect(status.output.contains("stopped"))
            }
            try await bench.must("down")
            #expect(try await bench.end(of: up) == .exited(0))
            #expect(bench.all("a", "start").count == 1)
        }
    }

    @Test("C09: a foreground whose terminal is closed ends everything in order")
    func hangUp() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a"), .puppet("b", "", "needs: [a]")])
            let up = try bench.up { $0.isOnTerminal = true }
            try await bench.saw("b", "start")
            try await bench.answers()
            up.hangUp()
            try await bench.end(of: up)
            let ends = bench.all("b", "bye") + bench.all("a", "bye")
            #expect(ends.map(\.name) == ["b", "a"])
        }
    }

    @Test("C10: a stop by name tells what it takes along, from its first step on")
    func takenAlong() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a"), .puppet("b", "", "needs: [a]")])
            let up = try bench.up()
            try await bench.saw("b", "start")
            try await bench.answers()
            let stop = try await bench.must("stop", "a")
            #expect(stop.output == "a is stopped, and with it b\n")
            #expect(stop.errors.contains("b is being stopped (a, which it needs, is stopped"))
            let wait = try await bench.run("wait", "b", "a", "--timeout", "1s")
            #expect(wait.ending == .exited(1))
            #expect(wait.errors.contains("a was stopped by"), "\(wait.errors)")
            try await bench.must("down")
            #expect(try await bench.end(of: up) == .exited(0))
        }
    }
}
