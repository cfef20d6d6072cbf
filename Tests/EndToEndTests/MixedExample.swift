import Glibc
import Testing

/// What `examples/05-mixed` shows, seen from outside.
@Suite("Example 05-mixed", .timeLimit(.minutes(30)))
@BenchActor
struct MixedExample {
    private func start(_ bench: Bench, _ words: String...) throws -> Program {
        var launch = Launch([Identity.ours.programs + "/mixed"] + words)
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

    @Test("the daemon starts after what it needs, is asked to stop on its channel, and is gone")
    func signal() async throws {
        try await withBench { bench in
            let program = try start(bench)
            try await bench.printed("tells the time", by: program)
            program.signal(SIGTERM)
            #expect(try await bench.end(of: program) == .exited(0))
            expect(
                [
                    "journal: launching", "the daemon listens on 127.0.0.1:", "the daemon says 2",
                    "ending: signal 15", "journal: the client is closed",
                    "asked to stop: stopped by signal 15", "bye after 1 answers",
                    "journal: closed after 4 lines",
                ], in: program.output)
            expect(
                ["process.launched service=timed", "process.stopSent", "status=\"exit code 0\""],
                in: program.errors)
        }
    }

    @Test("a daemon that dies stops the graph, which says how, with code 1")
    func death() async throws {
        try await withBench { bench in
            let program = try start(bench, "--kill")
            #expect(try await bench.end(of: program) == .exited(1))
            expect(
                ["ending: work beside it failed", "client is closed", "closed after 4 lines"],
                in: program.output)
            expect(
                [
                    "warning mixed/timed process.exited service=timed status=\"signal 9\"",
                    "failure: timed ended: signal 9 [process.ended]",
                ], in: program.errors)
        }
    }

    @Test("a daemon that is not there is named, and what had started is stopped")
    func missing() async throws {
        try await withBench { bench in
            let program = try start(bench, "--daemon", "/no/such")
            #expect(try await bench.end(of: program) == .exited(1))
            expect(["journal: closed after 1 lines"], in: program.output)
            expect(
                ["timed: cannot run /no/such: there is no such file or directory"],
                in: program.errors)
        }
    }

    @Test("it ends by itself after its time")
    func time() async throws {
        try await withBench { bench in
            let program = try start(bench, "--for", "0.3")
            #expect(try await bench.end(of: program) == .exited(0))
            expect(["ending: deadline expired", "bye after"], in: program.output)
        }
    }
}
