import Glibc
import Testing

@Suite("Cases: reload", .timeLimit(.minutes(30)))
@BenchActor
struct ReloadCases {
    private static let a = Service.puppet(
        "a", "--ready 0", "ready: notify", "stopTimeout: 2s", "restart: always")
    private static let b = Service.puppet("b", "", "needs: [a]")
    private static let c = Service.puppet("c")

    /// How often each service was started.
    private static func starts(_ bench: Bench) -> [String: Int] {
        var counts: [String: Int] = [:]
        for event in bench.events where event.event == "start" {
            counts[event.name, default: 0] += 1
        }
        return counts
    }

    private static func begin(_ bench: Bench) async throws -> Program {
        try bench.config(services: [a, b, c])
        let up = try bench.up()
        for name in ["a", "b", "c"] { try await bench.saw(name, "start") }
        try await bench.answers()
        return up
    }

    private static func end(_ up: Program, _ bench: Bench) async throws {
        up.signal(SIGTERM)
        #expect(try await bench.end(of: up) == .exited(0))
    }

    @Test("C45: what did not change keeps its process")
    func unchanged() async throws {
        try await withBench { bench in
            let up = try await Self.begin(bench)
            try await bench.must("reload")
            try bench.config(services: [
                Self.c, Self.b,
                .puppet("a", "--ready 0", "restart: always", "stopTimeout: 2s", "ready: notify"),
            ])
            try await bench.must("reload")
            try bench.config(services: [Self.a, Self.b, Self.c, .puppet("d", "", "needs: [c]")])
            try await bench.must("reload")
            try await bench.saw("d", "start")
            #expect(Self.starts(bench) == ["a": 1, "b": 1, "c": 1, "d": 1])
            #expect(bench.events.filter { $0.event == "got" }.isEmpty)
            try await Self.end(up, bench)
        }
    }

    @Test("C45: what changed restarts, alone")
    func changed() async throws {
        try await withBench { bench in
            let up = try await Self.begin(bench)
            try bench.config(services: [Self.a, Self.b, .puppet("c", "--beat 10")])
            try await bench.must("reload")
            try await bench.saw("c", "start", count: 2)
            #expect(Self.starts(bench) == ["a": 1, "b": 1, "c": 2])
            try await bench.must("reload")
            try bench.config(services: [Self.a, Self.c])
            try await bench.must("reload")
            try await bench.saw("b", "bye")
            #expect(bench.all("a", "got").isEmpty)
            try await Self.end(up, bench)
        }
    }

    @Test("C45: a change of what others need restarts in order")
    func changedNeed() async throws {
        try await withBench { bench in
            let up = try await Self.begin(bench)
            try bench.config(services: [
                .puppet("a", "--ready 0 --beat 10", "ready: notify"), Self.b, Self.c,
            ])
            try await bench.must("reload")
            try await bench.saw("b", "start", count: 2)
            let steps = bench.events.filter {
                ["a", "b"].contains($0.name) && ["got", "bye", "start"].contains($0.event)
            }.dropFirst(2).map { "\($0.name) \($0.event)" }
            #expect(
                steps == ["b got", "b bye", "a got", "a bye", "a start", "b start"], "\(steps)")
            #expect(Self.starts(bench) == ["a": 2, "b": 2, "c": 1])
            #expect(bench.all("c", "got").isEmpty)
            try await Self.end(up, bench)
        }
    }

    @Test(
        "C45: a bad config changes nothing",
        arguments: [
            ("a removed, b needs it", "services:\n  b: {command: [sleep, 9], needs: [a]}\n"),
            ("broken", "services:\n  a: {command: [sleep, 9]\n"),
            (
                "a cycle",
                "services:\n  a: {command: [x], needs: [b]}\n  b: {command: [x], needs: [a]}\n"
            ), ("empty", ""), ("half", "services:\n  a:\n    comm"),
        ])
    func badConfig(what: String, text: String) async throws {
        try await withBench { bench in
            let up = try await Self.begin(bench)
            try bench.write(text, to: "orchestrator.yaml")
            let reload = try await bench.run("reload")
            #expect(reload.ending == .exited(78), "\(what): \(reload.output)\(reload.errors)")
            #expect(reload.errors.contains("orchestrator.yaml"), "\(reload.errors)")
            #expect(Self.starts(bench) == ["a": 1, "b": 1, "c": 1])
            #expect(bench.events.filter { $0.event == "got" }.isEmpty)
            let a = try await bench.saw("a", "start")
            ProcessTable.kill(a.pid, begun: try #require(a.begun))
            try await bench.saw("a", "start", count: 2)
            try bench.config(services: [Self.a, Self.b, Self.c, .puppet("d")])
            try await bench.must("reload")
            try await bench.saw("d", "start")
            #expect(bench.all("b", "start").count == 1)
            try await Self.end(up, bench)
        }
    }

    @Test(
        "whatever became of the config, the engine that runs it is found",
        arguments: ["name: one\nservices:\n  a: {command: [sleep, 9]\n", "name: two\n"])
    func found(text: String) async throws {
        try await withBench { bench in
            try bench.config("name: one", services: [Self.c])
            let up = try bench.up()
            try await bench.saw("c", "start")
            try await bench.answers()
            if text.hasPrefix("name: two") {
                try bench.config("name: two", services: [Self.c])
            } else {
                try bench.write(text, to: "orchestrator.yaml")
            }
            let status = try await bench.must("status")
            #expect(status.output.contains("one is up"))
            #expect(try await bench.run("reload").ending == .exited(78))
            try await bench.must("down")
            #expect(try await bench.end(of: up) == .exited(0))
        }
    }

    @Test("C45: a config that cannot be read changes nothing", .enabled(if: Privileges.isRoot))
    func unreadable() async throws {
        try await withBench { bench in
            let up = try await Self.begin(bench)
            try bench.write("services: {}\n", to: "orchestrator.yaml", mode: 0o000)
            let reload = try await bench.run("reload")
            #expect([.exited(78), .exited(77)].contains(reload.ending))
            #expect(reload.errors.contains("orchestrator.yaml"))
            #expect(Self.starts(bench) == ["a": 1, "b": 1, "c": 1])
            try await Self.end(up, bench)
        }
    }

    @Test("C45: a plan says which keys differ, and reload the same")
    func keysThatDiffer() async throws {
        try await withBench { bench in
            try bench.write("A=1\n", to: "a.env")
            let keys = ["environmentFile: [a.env]"]
            try bench.config(services: [.puppet("a", "", keys[0]), .puppet("b")])
            try await bench.must("up", "--wait")
            try bench.write("A=2\n", to: "a.env")
            try bench.config(services: [
                .puppet("a", "", keys[0]), .puppet("b", "", "nice: 3", "umask: 077"),
            ])
            let said = "~ a: changed (the content of environmentFile)\n~ b: changed (umask, nice)\n"
            #expect(try await bench.must("plan").output == said)
            #expect(try await bench.must("reload").output.hasPrefix(said))
            try await bench.must("down")
        }
    }
}
