import Glibc
import Testing

/// What `examples/04-in-process` shows, seen from outside.
@Suite("Example 04-in-process", .timeLimit(.minutes(30)))
@BenchActor
struct InProcessExample {
    private func start(_ bench: Bench, _ words: String...) throws -> Program {
        var launch = Launch([Identity.ours.programs + "/in-process"] + words)
        launch.identity = .ours
        return try bench.start(launch)
    }

    /// These texts come in this order.
    private func expect(
        _ parts: [String], in text: String, location: SourceLocation = #_sourceLocation
    ) {
        var rest = text[...]
        for part in parts {
            guard let found = rest.firstRange(of: part) else {
                Issue.record("no “\(part)” there:\n\(text)", sourceLocation: location)
                return
            }
            rest = rest[found.upperBound...]
        }
    }

    @Test("it comes up in the order of the needs, and SIGTERM stops it in reverse, knowing why")
    func signal() async throws {
        try await withBench { bench in
            let program = try start(bench)
            try await bench.printed("sync: uploads for ada, run 2", by: program)
            program.signal(SIGTERM)
            #expect(try await bench.end(of: program) == .exited(0))
            expect(
                [
                    "database: open", "cache: warm", "cache: warm", "account: opened for ada",
                    "sync: connected for ada", "ada is signed in", "ada leaves: signal 15",
                    "sync: disconnected for ada", "account: closed for ada, asked to: signal 15",
                    "cache: flushed", "cache: flushed",
                    "database: closed with 3 rows, asked to: signal 15",
                ], in: program.output)
            expect(
                [
                    "retry.succeeded attempt=3 of=4", "app graph.started",
                    "supervisor.childFailed child=uploads", "supervisor.restarted child=uploads",
                    "app/session/user ada graph.stopped", "app graph.stopped",
                ], in: program.errors)
        }
    }

    @Test("it ends by itself after its time, with code 0")
    func time() async throws {
        try await withBench { bench in
            let program = try start(bench, "--for", "0.5")
            #expect(try await bench.end(of: program) == .exited(0))
            expect(
                ["ada leaves: deadline expired", "database: closed"], in: program.output)
        }
    }

    @Test("a start that fails rolls back what had started, is named, and ends with code 1")
    func failure() async throws {
        try await withBench { bench in
            let sync = try start(bench, "--fail", "sync")
            #expect(try await bench.end(of: sync) == .exited(1))
            expect(
                [
                    "account: opened", "account: closed for ada, after a failure: the sync server",
                    "cache: flushed", "database: closed",
                ], in: sync.output)
            #expect(!sync.output.contains("sync: "))
            expect(
                [
                    "error app/session/user ada service.startFailed service=sync",
                    "failure: sync did not start: the sync server says no [graph.startFailed]",
                ], in: sync.errors)

            let cache = try start(bench, "--fail", "cache")
            #expect(try await bench.end(of: cache) == .exited(1))
            #expect(!cache.output.contains("account"))
            expect(
                ["database: closed with 0 rows, after a failure: the cache"], in: cache.output)
            expect(["did not start: the cache server says no"], in: cache.errors)
        }
    }

    @Test(
        "stops that hang are left behind one after the other, and what they need stops after them")
    func hang() async throws {
        try await withBench { bench in
            let program = try start(bench, "--hang", "cache", "--for", "0.5")
            #expect(try await bench.end(of: program, within: .seconds(25)) == .exited(0))
            #expect(program.output.ranges(of: "waits for something that never comes").count == 2)
            expect(["never comes", "database: closed with 1 rows"], in: program.output)
            expect(
                [
                    "warning app service.stopTimedOut service=",
                    "error app service.stopAbandoned service=",
                    "error app service.stopAbandoned service=",
                    "service.stopped service=database", "app graph.stopped",
                ], in: program.errors)
        }
    }

    @Test("a sign-out stops one user's services and builds the next one's while the rest runs on")
    func signOut() async throws {
        try await withBench { bench in
            let program = try start(bench, "--sign-out")
            try await bench.printed("grace is signed in", by: program)
            program.signal(SIGTERM)
            #expect(try await bench.end(of: program) == .exited(0))
            expect(
                [
                    "ada leaves: requested", "account: closed for ada, asked to: requested",
                    "account: opened for grace", "grace leaves: signal 15",
                    "database: closed with 4 rows",
                ], in: program.output)
            #expect(program.output.ranges(of: "database: open\n").count == 1)
        }
    }

    @Test("the graphs are printed as text and as DOT, and nothing starts")
    func explain() async throws {
        try await withBench { bench in
            let program = try start(bench, "--explain")
            #expect(try await bench.end(of: program) == .exited(0))
            expect(
                [
                    "page cache needs database", "digraph \"app\" {",
                    "\"picture cache\" -> \"database\";", "sync needs account",
                    "\"sync\" -> \"account\";",
                ], in: program.output)
            #expect(!program.output.contains("open") && program.errors.isEmpty)
        }
    }

    @Test("what it does not understand is answered with its usage, and code 64")
    func usage() async throws {
        try await withBench { bench in
            for words in [["--fail"], ["--hang", "web"], ["--for", "nan"], ["--loud"]] {
                var launch = Launch([Identity.ours.programs + "/in-process"] + words)
                launch.identity = .ours
                let program = try bench.start(launch)
                #expect(try await bench.end(of: program) == .exited(64))
                #expect(program.errors.contains("usage: in-process"))
            }
        }
    }
}
