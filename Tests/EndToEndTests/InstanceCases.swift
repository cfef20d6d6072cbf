import CBench
import Glibc
import Testing

@Suite("Cases: control socket and instances", .timeLimit(.minutes(30)))
@BenchActor
struct InstanceCases {
    @Test("C40: a socket path that is too long is refused or made to work, never shortened")
    func longPaths() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a", "--ready 0", "ready: notify")])
            let probe = try bench.up()
            try await bench.must("wait", "a", "--for", "ready")
            let run = bench.path("run")
            let names = Scratch.files(under: run).filter { TextFile.kind($0) == S_IFSOCK }
            #expect(names.count >= 2, "a control and a notify socket: \(names)")
            try await bench.must("down")
            try await bench.end(of: probe)
            // The longest of them decides; where it fits, the others do.
            let longest = try #require(names.map { $0.utf8.count - run.utf8.count }.max())
            for length in [106, 107, 108, 109, 158] {
                try await attempt(bench, padded: length - longest, mustWork: length < 108)
            }
        }
    }

    /// Runs the project with a runtime directory whose path has `length` bytes.
    private func attempt(_ bench: Bench, padded length: Int, mustWork: Bool) async throws {
        let folder = bench.path("p" + String(repeating: "x", count: 200))
        let path = String(folder.prefix(length))
        guard path.utf8.count > bench.directory.utf8.count + 1 else { return }
        try Scratch.makeFolder(path, owner: bench.identity)
        bench.environment["XDG_RUNTIME_DIR"] = path
        let starts = bench.all("a", "start").count
        let up = try bench.up()
        try await bench.wait("a start or a refusal") {
            up.ending != nil || $0.all("a", "sent", "READY=1").count > starts
        }
        if up.ending == nil {
            try await bench.must("wait", "a", "--for", "ready", "--timeout", "5s")
            try await bench.must("down")
            try await bench.end(of: up)
        } else {
            #expect(!mustWork, "\(length): \(up.errors)")
            #expect(up.errors.contains("107"), "\(up.errors)")
            #expect(bench.all("a", "start").count == starts)
        }
        #expect(Scratch.files(under: path).isEmpty)
        Scratch.remove(path)
        bench.environment["XDG_RUNTIME_DIR"] = nil
    }

    @Test("C41: the socket of a killed engine is replaced")
    func staleSocket() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a")])
            let first = try bench.up()
            let a = try await bench.saw("a", "start")
            try await bench.answers()
            first.signal(SIGKILL)
            try await bench.end(of: first)
            let second = try bench.up()
            try await bench.saw("a", "start", count: 2)
            #expect(!a.isAlive, "no two of them")
            try await bench.answers()
            try await bench.must("down")
            #expect(try await bench.end(of: second) == .exited(0))
        }
    }

    @Test("C41: what is not a stale socket is left alone", arguments: ["file", "listener"])
    func foreignSocket(kind: String) async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a")])
            let first = try bench.up()
            try await bench.answers()
            let path = try #require(Self.controlSocket(of: bench))
            try await bench.must("down")
            try await bench.end(of: first)
            let folders = Self.missingFolders(of: path)
            for folder in folders { try Scratch.makeFolder(folder, owner: bench.identity) }
            var listener: CInt = -1
            if kind == "file" {
                try TextFile.write("mine", to: path)
            } else {
                listener = unsafe cbench_serve(path)
                #expect(listener >= 0)
            }
            try Scratch.give(path, to: bench.identity)
            let second = try bench.up()
            let ending = try await bench.end(of: second, within: .seconds(10))
            #expect(ending != .exited(0))
            #expect(second.errors.contains(path), "\(second.errors)")
            #expect(bench.all("a", "start").count == 1)
            #expect(TextFile.kind(path) == (kind == "file" ? S_IFREG : S_IFSOCK))
            if listener >= 0 { close(listener) }
            for folder in folders { Scratch.remove(folder) }
        }
    }

    /// The folders above `path` that do not exist, outermost first.
    private static func missingFolders(of path: String) -> [String] {
        var missing: [String] = []
        var folder = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
        while !folder.isEmpty, !TextFile.exists(folder) {
            missing.insert(folder, at: 0)
            folder = String(folder.prefix(upTo: folder.lastIndex(of: "/") ?? folder.startIndex))
        }
        return missing
    }

    /// The listening socket of the engine: the one that takes connections.
    private static func controlSocket(of bench: Bench) -> String? {
        Scratch.files(under: bench.path("run")).first { path in
            let connection = unsafe cbench_connect(path)
            if connection >= 0 { close(connection) }
            return connection >= 0
        }
    }

    @Test("C42: of two started together, one runs the project")
    func twoAtOnce() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a")])
            var waits: [Duration] = []
            for round in 1...20 {
                let both = [try bench.up(), try bench.up()]
                try await bench.saw("a", "start", count: round)
                try await bench.wait("one to leave", within: .seconds(5)) { _ in
                    both.contains { $0.ending != nil }
                }
                let loser = try #require(both.first { $0.ending != nil })
                let winner = try #require(both.first { $0.ending == nil })
                waits.append(try await Self.check(loser, besides: winner, bench))
                try await bench.must("down")
                #expect(try await bench.end(of: winner) == .exited(0))
                #expect(bench.all("a", "start").count == round)
            }
            Self.expectQuick(waits)
        }
    }

    @Test("C42: a second up beside a running one leaves it alone")
    func secondUp() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a")])
            let winner = try bench.up()
            let a = try await bench.saw("a", "start")
            try await bench.answers()
            bench.settle(winner)
            var waits: [Duration] = []
            for _ in 0..<5 {
                let loser = try await bench.run("up")
                waits.append(try await Self.check(loser, besides: winner, bench))
                #expect(a.isAlive && bench.all("a").count == 1)
            }
            Self.expectQuick(waits)
        }
    }

    /// Half of them within a second: others use the machine too, for a moment at a time.
    private static func expectQuick(_ waits: [Duration]) {
        let sorted = waits.sorted()
        #expect(sorted[sorted.count / 2] < .seconds(1), "\(sorted)")
    }

    /// The one that lost said who runs and took nothing away.
    /// - Returns: How long it took.
    private static func check(
        _ loser: Program, besides winner: Program, _ bench: Bench
    ) async throws -> Duration {
        #expect(loser.ending == .exited(77))
        let took = try #require(loser.ended) - loser.begun
        #expect(loser.errors.contains("process \(winner.pid)"), "it says who runs: \(loser.errors)")
        try await bench.answers()
        #expect(bench.events.filter { $0.event == "start" && $0.isAlive }.count == 1)
        let status = try await bench.must("status")
        #expect(status.output.contains("ready"), "\(status.output)")
        return took
    }

    /// How long `status` takes, its own start included: the quickest of three, since others use the
    /// machine too.
    private static func answerTime(_ bench: Bench) async throws -> Duration {
        var quickest = Duration.seconds(60)
        for _ in 0..<3 {
            let asked = Moment.now
            try await bench.must("status")
            quickest = min(quickest, Moment.now - asked)
        }
        return quickest
    }

    @Test("C43: clients that vanish in the middle of a stream cost nothing")
    func streamsVanish() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a", "--flood 300")])
            let up = try bench.up()
            try await bench.saw("a", "start")
            try await bench.answers()
            bench.settle(up)
            for _ in 0..<200 {
                let client = try bench.start(Launch(bench.arguments(["logs", "-f", "a"])))
                try await bench.wait("a line") { _ in !client.bytes.isEmpty }
                client.signal(SIGKILL)
                try await bench.end(of: client)
            }
            #expect(try await Self.answerTime(bench) < .milliseconds(700))
        }
    }

    @Test("C43: a client that says nothing, or half of it, or dies while it waits")
    func clientVanishes() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a"), .puppet("b", "--term slow:1")])
            let up = try bench.up()
            for name in ["a", "b"] { try await bench.saw(name, "start") }
            try await bench.answers()
            bench.settle(up)
            let path = try #require(Self.controlSocket(of: bench))
            let silent = unsafe cbench_connect(path)
            let half = unsafe cbench_connect(path)
            _ = unsafe send(half, "GET /v1/sta", 11, Int32(MSG_NOSIGNAL))
            close(half)
            #expect(try await Self.answerTime(bench) < .milliseconds(700))
            close(silent)
            let down = try bench.start(Launch(bench.arguments(["down", "b"])))
            try await bench.saw("b", "got", "SIGTERM")
            down.signal(SIGKILL)
            try await bench.saw("b", "bye")
            try await bench.wait("the stop to be complete") {
                !$0.told("service.stopped", "b").isEmpty
            }
            await bench.watch(for: .milliseconds(300))
            #expect(bench.all("b", "start").count == 1)
        }
    }

    @Test("C42: verbs in a directory whose config has the name of another one say so")
    func sameName() async throws {
        try await withBench { bench in
            try bench.config("name: same", services: [.puppet("a")])
            try bench.config("name: same", services: [.puppet("b")], as: "other.yaml")
            try await bench.must("up", "--wait")
            let down = try await bench.must("-f", "other.yaml", "down")
            #expect(down.errors.contains("runs from \(bench.path("orchestrator.yaml"))"))
        }
    }

    @Test("C41: what an engine that was killed left is named where nothing runs")
    func leftByTheKilled() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a")])
            let up = try bench.up()
            let start = try await bench.saw("a", "start")
            try await bench.answers()
            up.signal(SIGKILL)
            try await bench.end(of: up)
            let status = try await bench.run("status")
            #expect(status.ending == .exited(69))
            #expect(status.errors.contains("a (pid \(start.pid))"), "\(status.errors)")
            try await bench.must("up", "--wait")
            try await bench.must("down")
        }
    }
}
