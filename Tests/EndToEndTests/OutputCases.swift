import Glibc
import Testing

@Suite("Cases: output", .timeLimit(.minutes(30)))
@BenchActor
struct OutputCases {
    @Test("when nothing runs, logs shows what is on disk, as much as was asked for")
    func afterTheEnd() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .command("a", ["sh", "-c", "echo one; echo two; echo three"], "type: oneshot"),
                .command("b", ["true"], "type: oneshot"),
            ])
            #expect(try await bench.run("up").ending == .exited(0))
            let all = try await bench.must("logs")
            #expect(all.output == "a | one\na | two\na | three\n")
            #expect(all.errors.contains("nothing runs"))
            #expect(try await bench.must("logs", "-n", "1", "a").output == "a | three\n")
            let since = try await bench.must("logs", "-n", "2", "--since", "10m", "--json")
            #expect(since.output.split(separator: "\n").count == 2)
            let timed = try await bench.must("logs", "-t", "-n", "1")
            #expect(timed.output.hasSuffix(" a | three\n") && timed.output.contains(":"))
            #expect(try await bench.run("logs", "b").ending == .exited(69))
            #expect(try await bench.run("logs", "-f").ending == .exited(69))
            #expect(try await bench.run("logs", "x").ending == .exited(64))
        }
    }

    @Test("OUT-28: what happened last is in the file of events while the engine waits")
    func lastEvents() async throws {
        try await withBench { bench in
            // Nothing of it wakes the engine again, and nobody asks.
            try bench.config(services: [.command("a", ["sleep", "1000"])])
            let up = try bench.up()
            try await bench.wait("the last event of the start") { bench in
                !bench.told("service.ready", "a").isEmpty
            }
            try await bench.must("down")
            #expect(try await bench.end(of: up) == .exited(0))
        }
    }

    @Test("C28: a log that is taken away comes back, and nobody waits for it")
    func logTakenAway() async throws {
        try await withBench { bench in
            try Scratch.makeFolder(bench.path("log"), owner: bench.identity)
            try bench.config(services: [
                .puppet(
                    "a", "--flood 400 --beat 0.05",
                    "output: {file: log/a.log, maxSize: 4096B, keep: 2}"),
                .puppet("b", "--flood 50 --beat 0.05"),
            ])
            let up = try bench.up()
            let file = bench.path("log/a.log")
            try await bench.wait("a log") { _ in TextFile.exists(file) }
            unsafe unlink(file)
            try await bench.wait("the log to come back") { _ in TextFile.exists(file) }
            Scratch.remove(bench.path("log"))
            await bench.watch(for: .milliseconds(700))
            if !TextFile.exists(bench.path("log")) {
                try Scratch.makeFolder(bench.path("log"), owner: bench.identity)
            }
            try await bench.wait("the log to come back") { _ in TextFile.exists(file) }
            Scratch.remove(file + ".1")
            try Scratch.makeFolder(file + ".1", owner: bench.identity)
            await bench.watch(for: .milliseconds(700))
            let reports = bench.told("output.report", "a").map(\.message)
            #expect(reports.contains { $0.contains("cannot rotate") }, "\(reports)")
            for name in ["a", "b"] {
                let beats = bench.all(name, "beat").map(\.milliseconds)
                for (before, after) in zip(beats, beats.dropFirst()) {
                    #expect(after - before < 550, "\(name) stood still")
                }
            }
            up.signal(SIGTERM)
            try await bench.end(of: up)
        }
    }

    @Test("C29: a character cut by the edge of a buffer is whole in file and view")
    func cutCharacter() async throws {
        try await withBench { bench in
            let flags = [
                "--fill", "4095:x", "--say", "€\\n", "--fill", "4092:y", "--say", "€\\n",
                "--fill", "57341:z", "--say", "€\\n", "--say-raw", "e2", "--pause", "0.05",
                "--say-raw", "82ac0a", "--say-raw", "41ff420a", "--say", "end\\n", "--store",
                "done",
            ]
            try bench.config(services: [
                .puppet("a", flags: flags, "output: {file: a.log, maxLine: 1MiB}")
            ])
            let up = try bench.up()
            try await bench.saw("a", "stored")
            let expected =
                Array(
                    (String(repeating: "x", count: 4_095) + "€\n"
                        + String(repeating: "y", count: 4_092) + "€\n"
                        + String(repeating: "z", count: 57_341) + "€\n€\n").utf8)
                + [0x41, 0xff, 0x42, 0x0a] + Array("end\n".utf8)
            try await bench.wait("the file") { _ in
                TextFile.bytes(bench.path("a.log"))?.count == expected.count
            }
            #expect(TextFile.bytes(bench.path("a.log")) == expected)
            let whole = try await bench.must("logs", "-n", "100", "a")
            #expect(whole.output.count { $0 == "\u{fffd}" } == 1)
            #expect(whole.output.contains("A\u{fffd}B"))
            #expect(whole.output.count { $0 == "€" } == 4)
            let middle = try await bench.must("logs", "-n", "3", "a")
            #expect(middle.output.count { $0 == "\u{fffd}" } == 1)
            #expect(middle.output.count { $0 == "€" } == 1)
            up.signal(SIGTERM)
            try await bench.end(of: up)
        }
    }

    @Test("C30: very long lines neither block nor pile up")
    func longLines() async throws {
        try await withBench { bench in
            let lengths = [65_535, 65_536, 1 << 20, 64 << 20]
            let flags =
                ["--pause", "0.5"]
                + lengths.flatMap { ["--fill", "\($0)", "--say", "\\nnormal \($0)\\n"] }
            try bench.config(services: [
                .puppet("a", flags: flags + ["--store", "done"], "output: {maxSize: 100MiB}")
            ])
            let up = try bench.up()
            try await bench.answers()
            let before = ProcessTable.residentKilobytes(of: up.pid)
            try await bench.saw("a", "stored", within: .seconds(40))
            await bench.watch(for: .milliseconds(200))
            let grown = ProcessTable.residentKilobytes(of: up.pid) - before
            #expect(grown < 4_000, "KiB: the cap of a line, buffers and recent output")
            let logs = try await bench.must("logs", "-n", "20", "a")
            for length in lengths {
                #expect(logs.output.contains("normal \(length)"))
                try await bench.printed("normal \(length)", by: up)
            }
            #expect(logs.output.split(separator: "\n").count { $0.hasSuffix("[cut]") } == 4)
            up.signal(SIGTERM)
            try await bench.end(of: up)
        }
    }

    @Test("C31: a last line without a newline is one line, with its name before it")
    func lastLine() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .puppet(
                    "a", "--say first\\nlast --exit 0.2 --code 1",
                    "restart: {backoff: {initial: 100ms, max: 100ms}}"),
                .puppet("b", "--flood 50"),
            ])
            let up = try bench.up()
            try await bench.saw("a", "start", count: 3)
            try await bench.saw("a", "exit", count: 3)
            up.signal(SIGTERM)
            try await bench.end(of: up)
            let lines = up.output.split(separator: "\n").filter { $0.contains("last") }
            #expect(lines.count == bench.all("a", "start").count)
            let first = up.output.split(separator: "\n").filter { $0.contains("first") }
            #expect(first.count == lines.count && first.allSatisfy { $0.hasSuffix("first") })
            for line in lines {
                #expect(line.contains("a") && !line.contains("first") && line.hasSuffix("last"))
            }
        }
    }

    @Test("C32: closed output costs nothing, and the exit is still noticed")
    func closedOutput() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .puppet(
                    "a", "--close-stdio --exit 6.5 --code 1",
                    "restart: {backoff: {initial: 10ms, max: 10ms}}")
            ])
            let up = try bench.up()
            try await bench.saw("a", "start")
            await bench.watch(for: .milliseconds(700))
            let before = try #require(ProcessTable.row(up.pid)).ticks
            await bench.watch(for: .seconds(5))
            let after = try #require(ProcessTable.row(up.pid)).ticks
            #expect(after - before < 10, "ticks of 10 ms in five seconds")
            let status = try await bench.must("status", "a")
            #expect(status.output.contains("ready"), "\(status.output)")
            try await bench.saw("a", "start", count: 2)
            up.signal(SIGTERM)
            try await bench.end(of: up)
        }
    }

    @Test("C33: no space for one log harms nobody")
    func fullLog() async throws {
        try await withBench { bench in
            let link = bench.path("a.log")
            #expect(unsafe symlink("/dev/full", link) == 0)
            try bench.config(services: [
                .puppet("a", "--flood 300 --beat 0.05", "output: {file: a.log}"),
                .puppet("b", "--flood 100", "output: {file: b.log}"),
            ])
            let up = try bench.up()
            try await bench.saw("a", "beat", count: 30)
            unsafe unlink(link)
            #expect(unsafe symlink(bench.path("a-real.log"), link) == 0)
            try await bench.wait("the log to go on", within: .seconds(15)) {
                $0.read("a-real.log").contains("a line")
            }
            let beats = bench.all("a", "beat").map(\.milliseconds)
            for (before, after) in zip(beats, beats.dropFirst()) { #expect(after - before < 550) }
            let told = bench.told("output.report", "a").map(\.message)
            #expect(!told.isEmpty && told.count < 30, "\(told.count) reports")
            #expect(told.contains { $0.contains("bytes lost") }, "\(told)")
            up.signal(SIGTERM)
            try await bench.end(of: up)
            let numbers = bench.read("b.log").split(separator: "\n").map(String.init)
            #expect(numbers == numbers.indices.map { "b line \($0)" })
        }
    }

    @Test(
        "C33: a full file system for the state refuses the start", .enabled(if: Privileges.canMount)
    )
    func fullState() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a")])
            let script = """
                mount -t tmpfs -o size=16k,mode=777 none \(bench.path("state"))
                dd if=/dev/zero of=\(bench.path("state"))/filler bs=4k 2>/dev/null
                exec setpriv --reuid=65534 --regid=65534 --clear-groups \
                \(bench.identity.orchestrator) up
                """
            var launch = Launch(["/usr/bin/unshare", "--mount", "sh", "-c", script])
            launch.identity = .ours
            let up = try bench.start(launch)
            let ending = try await bench.end(of: up, within: .seconds(10))
            #expect(ending != .exited(0))
            #expect(up.errors.contains("cannot"), "\(up.errors)")
            #expect(up.errors.contains("the disk is full"), "\(up.errors)")
        }
    }
}
