import CBench
import Glibc
import Testing

@Suite("Cases: process trees", .timeLimit(.minutes(30)))
@BenchActor
struct ProcessTreeCases {
    @Test(
        "C01: a member of the group outlives its leader and is killed in time",
        arguments: [("--kid stubborn", "a-kid"), ("--term fork", "a-late")])
    func memberOutlivesLeader(flags: String, member: String) async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a", flags, "stopTimeout: 1s")])
            let up = try bench.up()
            if member == "a-kid" { try await bench.saw("a-kid", "start") }
            try await bench.saw("a", "start")
            try await bench.answers()
            let down = try await bench.must("down")
            let left = try #require(bench.all(member, "start").first)
            #expect(!left.isAlive)
            let asked = try await bench.saw("a", "got", "SIGTERM")
            let bye = try await bench.saw("a", "bye")
            #expect(bye.milliseconds - asked.milliseconds < 500)
            let ended = try #require(down.ended)
            #expect(ended - .milliseconds(asked.milliseconds) < .milliseconds(1_700))
            #expect(ended - .milliseconds(asked.milliseconds) > .milliseconds(450))
            #expect(try await bench.end(of: up) == .exited(0))
            #expect((up.output + up.errors + down.output + down.errors).contains("SIGKILL"))
            #expect(bench.told("service.killed", "a").count == 1)
        }
    }

    @Test("C02: an escape by a new session does not survive the stop")
    func escapeAndDown() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a", "--kid setsid", "stopTimeout: 1s")])
            let bystander = try bench.bystander()
            let up = try bench.up()
            try await bench.saw("a-kid", "start")
            let down = try await bench.run("down")
            let kid = try #require(bench.all("a-kid", "start").first)
            if down.ending == .exited(0) {
                #expect(!kid.isAlive)
            } else {
                #expect((down.output + down.errors).contains("\(kid.pid)"))
                bench.expectedSurvivors = ["a-kid"]
            }
            #expect(bystander.ending == nil)
            try await bench.end(of: up)
        }
    }

    @Test("C02: no second launch beside an escaped process", arguments: ["restart", "crash"])
    func escapeAndRestart(_ cause: String) async throws {
        try await withBench { bench in
            let flags = cause == "crash" ? "--kid setsid --exit 0.4 --code 1" : "--kid setsid"
            try bench.config(services: [
                .puppet(
                    "a", flags, "stopTimeout: 500ms",
                    "restart: {backoff: {initial: 10ms}, limit: {count: 100, window: 1m}}")
            ])
            let bystander = try bench.bystander()
            let up = try bench.up()
            let kid = try await bench.saw("a-kid", "start")
            if cause == "restart" {
                try await bench.answers()
                bench.settle(up)
                try await bench.must("restart", "a")
            }
            try await bench.saw("a", "start", count: 2)
            #expect(!kid.isAlive)
            #expect(bystander.ending == nil)
            guard cause == "crash" else { return }
            up.signal(SIGTERM)
            try await bench.end(of: up)
        }
    }

    private static let orphanConfig: [Service] = [
        .script("a", "while :; do (sleep 0.05 &); sleep 0.1; done"),
        .puppet("b", "--exit 1 --code 7", "restart: no"),
    ]

    /// The most zombies a process was seen to have within two seconds.
    private static func mostZombies(of pid: pid_t, _ bench: Bench) async -> Int {
        var most = 0
        for _ in 0..<40 {
            await bench.watch(for: .milliseconds(50))
            most = max(most, ProcessTable.children(of: pid).count { $0.state == "Z" })
        }
        return most
    }

    private static func asFirstProcess(_ bench: Bench) -> Launch {
        var launch = Launch(Privileges.unshare + bench.arguments(["up"]))
        launch.identity = Privileges.unshareIdentity(bench.identity)
        return launch
    }

    @Test("C04: adopted orphans are reaped")
    func orphansAreReaped() async throws {
        try await withBench { bench in
            try bench.config(services: Self.orphanConfig)
            let up = try bench.up()
            try await bench.saw("b", "exit")
            #expect(await Self.mostZombies(of: up.pid, bench) <= 5)
            let status = try await bench.run("status")
            #expect(status.output.contains("code 7"), "\(status.output)")
        }
    }

    @Test("C04: as the first process of a namespace, too", .enabled(if: Privileges.canUnshare))
    func orphansAreReapedByInit() async throws {
        try await withBench { bench in
            try bench.config(services: Self.orphanConfig)
            let outer = try bench.start(Self.asFirstProcess(bench))
            try await bench.saw("b", "exit")
            let inside = ProcessTable.children(of: outer.pid)
            let engine = try #require(inside.first { $0.name == "orchestrator" })
            #expect(await Self.mostZombies(of: engine.pid, bench) <= 5)
            ProcessTable.signal(engine.pid, begun: engine.begun, SIGTERM)
            #expect(try await bench.end(of: outer) == .exited(1))
        }
    }

    @Test("C06: an exit is noticed although somebody else holds the output open")
    func outputHeldOpen() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .puppet(
                    "a", "--kid holdout --exit 0.1 --code 1", "stopTimeout: 200ms",
                    "restart: {backoff: {initial: 20ms, max: 20ms}, "
                        + "limit: {count: 100, window: 1m}}")
            ])
            let up = try bench.up()
            try await bench.saw("a", "start", count: 2)
            let before = ProcessTable.descriptorCount(of: up.pid)
            try await bench.saw("a", "start", count: 21, within: .seconds(30))
            // Launches go on meanwhile and hold some of their own for a moment: it comes back.
            try await bench.wait("as many descriptors as after one restart") { _ in
                ProcessTable.descriptorCount(of: up.pid) <= before
            }
            for (exit, start) in zip(bench.all("a", "exit"), bench.all("a", "start").dropFirst()) {
                // 200 ms for the stubborn rest of the tree, 20 ms of backoff, half a second.
                #expect(start.milliseconds - exit.milliseconds < 720)
            }
            let down = try await bench.must("down", within: .seconds(5))
            let ended = try #require(down.ended)
            #expect(ended - down.begun < .seconds(2))
            try await bench.end(of: up)
        }
    }
}
