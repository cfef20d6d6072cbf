import Glibc
import Testing

/// After a thousand of everything an engine holds exactly what it held, and no more memory than a
/// little. `LEAK_COUNT` sets another number.
@Suite("Cases: leaks", .timeLimit(.minutes(60)))
@BenchActor
struct LeakCases {
    /// How often each thing is done before the measurement and again before the next.
    private static let count =
        unsafe getenv("LEAK_COUNT").flatMap { unsafe Int(String(cString: $0)) } ?? 1_000
    /// Kilobytes that memory may grow in `count` rounds: less than one for each. What an allocator
    /// keeps of its pages is no leak, and moves by more than nothing.
    private static let spare = 512

    @Test("the counter sees a planted leak of one of each kind")
    func instrument() async throws {
        try await withBench { bench in
            try bench.makePipe("go")
            try bench.makePipe("end")
            // The shell's second child is a zombie until the shell waits, which it never does.
            let script = """
                sleep 300 & echo zero; read x <go
                exec 5</dev/null
                kept=$(head -c 3000000 /dev/zero | tr '\\0' x)
                sleep 301 & : & read x <end
                """
            var launch = Launch(["/bin/sh", "-c", script])
            launch.isOurs = false
            let program = try bench.start(launch)
            try await bench.printed("zero", by: program)
            let before = Holdings(of: program.pid)
            #expect(before.excess(over: before, spare: 0) == [])
            let pipe = try bench.say("x\n", into: "go")
            defer { close(pipe) }
            try await bench.wait("the leak") { _ in
                let excess = Holdings(of: program.pid).excess(over: before, spare: Self.spare)
                return excess.count == 4
            }
            let after = Holdings(of: program.pid)
            #expect(after.descriptors == before.descriptors + 1, "\(after), before: \(before)")
            #expect(after.zombies == before.zombies + 1 && after.kilobytes > before.kilobytes)
            for child in ProcessTable.children(of: program.pid) {
                ProcessTable.kill(child.pid, begun: child.begun)
            }
            program.signal(SIGKILL)
            try await bench.end(of: program)
        }
    }

    @Test("a thousand restarts leave nothing")
    func restarts() async throws {
        try await withBench(isHeavy: true) { bench in
            try bench.config(services: [
                .script(
                    "a", "echo >>count; echo line",
                    "restart: {policy: always, backoff: {initial: 0s, max: 0s}, "
                        + "limit: {count: 1000000, window: 1h}}")
            ])
            let up = try bench.up()
            try await bench.answers()
            try await leavesNothing(bench, up) { round in
                try await bench.must("start", "a")
                try await bench.wait("restarts", within: .seconds(120)) {
                    $0.read("count").utf8.count >= round * Self.count
                }
                try await bench.must("stop", "a")
            }
        }
    }

    @Test("a thousand clients leave nothing, whether they take their answer or vanish")
    func clients() async throws {
        try await withBench(isHeavy: true) { bench in
            try bench.config(services: [.puppet("a", "--flood 5")])
            let up = try bench.up()
            try await bench.answers()
            let socket = try #require(bench.controlSocket)
            try await leavesNothing(bench, up) { _ in
                let count = Self.count
                let unanswered = await Polling.away {
                    (0..<count).count { !Self.client(socket, $0) }
                }
                #expect(unanswered == 0)
                // The last of them are heard of when one more has its answer.
                try await bench.answers()
            }
        }
    }

    /// One client: it takes its answer, leaves in the middle of its request, or of a stream.
    /// - Returns: Whether it had the answer that it took.
    private nonisolated static func client(_ socket: String, _ number: Int) -> Bool {
        let follow = { (stream: String) in "GET /v1/\(stream)?follow HTTP/1.1\r\nHost: x\r\n\r\n" }
        switch number % 4 {
        case 0: return RawControl.ask(socket, "GET", "/v1/status").hasPrefix("HTTP/1.1 200 ")
        case 1: RawControl.vanish(socket, after: follow("events"))
        case 2: RawControl.vanish(socket, after: follow("logs"))
        default:
            RawControl.vanish(socket, after: "POST /v1/down HTTP/1.1\r\nHost: x\r\nContent-Le")
        }
        return true
    }

    @Test("a thousand reloads leave nothing")
    func reloads() async throws {
        try await withBench(isHeavy: true) { bench in
            let a = Service.puppet("a")
            let b = Service.command("b", ["/bin/sleep", "300"], "needs: [a]")
            try bench.config(services: [a, b], as: "more.yaml")
            try bench.config(services: [a], as: "less.yaml")
            try bench.config(services: [a])
            let up = try bench.up()
            try await bench.answers()
            let socket = try #require(bench.controlSocket)
            let directory = bench.directory
            try await leavesNothing(bench, up) { _ in
                let count = Self.count
                let refusal = await Polling.away {
                    (1...count).lazy.compactMap { Self.reload(directory, socket, $0) }.first
                }
                #expect(refusal == nil, "\(bench.story)")
            }
            #expect(bench.all("a", "start").count == 1)
        }
    }

    /// Changes the config to the other one and has it read.
    /// - Returns: What was answered, if it was a refusal.
    private nonisolated static func reload(
        _ directory: String, _ socket: String, _ number: Int
    ) -> String? {
        let config = directory + "/orchestrator.yaml"
        unsafe unlink(config)
        unsafe link(directory + (number % 2 == 0 ? "/less.yaml" : "/more.yaml"), config)
        let answer = RawControl.ask(socket, "POST", "/v1/reload", within: 30_000)
        return answer.hasPrefix("HTTP/1.1 200 ") ? nil : "reload \(number): \(answer)"
    }

    /// Does `body` twice, with the number of the round. What the engine holds after the second must
    /// not be more than after the first.
    private func leavesNothing(
        _ bench: Bench, _ up: Program, _ body: (Int) async throws -> Void
    ) async throws {
        let begun = Moment.now
        try await body(1)
        let before = try await rest(of: bench, up)
        try await body(2)
        try await bench.wait("no more than \(before)", within: .seconds(5)) { _ in
            Holdings(of: up.pid).excess(over: before, spare: Self.spare).isEmpty
        }
        let seconds = (Moment.now - begun) / .seconds(1)
        let after = Holdings(of: up.pid)
        print("leaks: \(2 * Self.count) in \(Int(seconds)) s: \(before), then \(after)")
        try await bench.must("down")
        try await bench.end(of: up)
    }

    /// What the engine holds once it has stopped changing.
    private func rest(of bench: Bench, _ up: Program) async throws -> Holdings {
        var last = Holdings(of: up.pid)
        var same = 0
        try await bench.wait("the engine to be at rest") { _ in
            let now = Holdings(of: up.pid)
            same =
                now.excess(over: last, spare: 0).isEmpty
                    && last.excess(over: now, spare: 0).isEmpty ? same + 1 : 0
            last = now
            return same >= 3
        }
        return last
    }
}

extension Bench {
    /// A named pipe in the project's directory.
    fileprivate func makePipe(_ name: String) throws {
        guard unsafe mkfifo(path(name), 0o600) == 0 else { throw BenchError("no pipe: \(errno)") }
        try Scratch.give(path(name), to: identity)
    }

    /// Writes into a named pipe that somebody reads or is about to read.
    /// - Returns: Our end, which has to stay open until then.
    fileprivate func say(_ text: String, into name: String) throws -> CInt {
        let pipe = unsafe open(path(name), O_RDWR | O_CLOEXEC)
        guard pipe >= 0 else { throw BenchError("cannot open \(name): error \(errno)") }
        let bytes = Array(text.utf8)
        _ = unsafe Glibc.write(pipe, bytes, bytes.count)
        return pipe
    }
}
