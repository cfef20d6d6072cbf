import CBench
import Glibc
import Testing

/// The instruments are tested first: a check that cannot fail proves nothing.
@Suite("The bench and the puppet", .timeLimit(.minutes(30)))
@BenchActor
struct HarnessTests {
    /// Starts a puppet without an orchestrator.
    private func puppet(
        _ bench: Bench, _ words: String..., prepare: (inout Launch) -> Void = { _ in }
    ) throws -> Program {
        var launch = Launch([bench.identity.puppet] + words)
        prepare(&launch)
        return try bench.start(launch)
    }

    @Test("a puppet says what it does, and how it was stopped")
    func speaks() async throws {
        try await withBench { bench in
            let program = try puppet(bench, "p", "--say", "h\\xc3\\xa9\\n", "--term", "slow:0.1")
            try await bench.saw("p", "start")
            try await bench.wait("its output") { _ in program.output == "hé\n" }
            program.signal(SIGTERM)
            #expect(try await bench.end(of: program) == .exited(0))
            let got = try await bench.saw("p", "got", "SIGTERM")
            let bye = try await bench.saw("p", "bye")
            #expect(bye.milliseconds - got.milliseconds >= 100)
            #expect(!(try await bench.saw("p", "start").isAlive))
        }
    }

    @Test("what is left behind is seen")
    func leftovers() async throws {
        try await withBench { bench in
            let program = try puppet(bench, "p", "--kid", "setsid")
            let kid = try await bench.saw("p-kid", "start")
            program.signal(SIGKILL)
            #expect(try await bench.end(of: program) == .killed(SIGKILL))
            #expect(kid.isAlive)
            bench.expectedSurvivors = ["p-kid"]
        }
    }

    @Test("a zombie is something left behind")
    func zombie() async throws {
        try await withBench { bench in
            var launch = Launch([
                "/bin/sh", "-c", "\(bench.identity.puppet) z --quit & exec sleep 60",
            ])
            launch.isOurs = false
            let parent = try bench.start(launch)
            let start = try await bench.saw("z", "start")
            try await bench.saw("z", "quit")
            try await bench.wait("the zombie") { _ in ProcessTable.row(start.pid)?.state == "Z" }
            #expect(start.isAlive)
            #expect(ProcessTable.children(of: parent.pid).map(\.state) == ["Z"])
        }
    }

    @Test("the count of descriptors sees a leak of one")
    func descriptorCount() async throws {
        let before = ProcessTable.descriptorCount(of: getpid())
        let leaked = (0..<50).map { _ in unsafe open("/dev/null", O_RDONLY | O_CLOEXEC) }
        // Other suites open and close meanwhile; fifty are more than their noise.
        #expect(ProcessTable.descriptorCount(of: getpid()) >= before + 20)
        for descriptor in leaked { close(descriptor) }
        let targets = ProcessTable.descriptors(of: getpid())
        #expect(targets[0] != nil)
    }

    @Test("Ctrl-C on a terminal reaches the foreground group, as for a user")
    func terminal() async throws {
        try await withBench { bench in
            let program = try puppet(bench, "p", "--open-tty") { $0.isOnTerminal = true }
            try await bench.saw("p", "tty-opened")
            program.type("x\n")
            try await bench.saw("p", "tty-read", "1")
            program.type("\u{3}")
            try await bench.saw("p", "got", "SIGINT")
            #expect(try await bench.end(of: program) == .exited(0))
        }
    }

    @Test("every oddity of a caller arrives: signals, descriptors, closed streams")
    func oddities() async throws {
        try await withBench { bench in
            var ends: [CInt] = [-1, -1]
            #expect(unsafe cbench_pipe(&ends) == 0)
            let program = try puppet(bench, "p", "--print-status", "--list-fds") {
                $0.ignored = [SIGPIPE]
                $0.blocked = [SIGTERM]
                $0.extra = (from: ends[1], to: 250)
                $0.closed = [0]
            }
            for end in ends { close(end) }
            let status = try await bench.saw("p", "status")
            #expect(status.value("SigBlk") == "0000000000004000")
            // Signal 32 belongs to the C library, whatever the tests were started with.
            let ignored = UInt64(status.value("SigIgn") ?? "", radix: 16)
            #expect(ignored.map { $0 & ~(1 << 31) } == 0x1000)
            let held = try await bench.saw("p", "fds").extra
            #expect(held.contains("250=pipe:") && !held.contains("0=/"), "\(held)")
            program.signal(SIGTERM)
            try await bench.end(of: program)
        }
    }

    @Test("a case that fails leaves nothing behind either")
    func abandoned() async throws {
        var kid: PuppetEvent?
        var directory = ""
        await #expect(throws: BenchError.self) {
            try await withBench { bench in
                directory = bench.directory
                _ = try puppet(bench, "p", "--kid", "setsid")
                kid = try await bench.saw("p-kid", "start")
                throw BenchError("on purpose")
            }
        }
        let start = try #require(kid)
        let deadline = Moment.now + .seconds(2)
        while start.isAlive, Moment.now < deadline {
            await Polling.wait(for: [], atMost: .milliseconds(10))
        }
        #expect(!start.isAlive)
        #expect(!TextFile.exists(directory))
        #expect(ProcessTable.inside(directory).isEmpty)
    }

    @Test("a wait that runs out says what was seen")
    func runsOut() async throws {
        try await withBench { bench in
            let program = try puppet(bench, "p")
            try await bench.saw("p", "start")
            let begun = Moment.now
            await #expect(throws: BenchError.self) {
                try await bench.saw("p", "never", within: .milliseconds(100))
            }
            #expect(Moment.now - begun >= .milliseconds(100))
            #expect(bench.story.contains("p \(program.pid) start"))
        }
    }
}
