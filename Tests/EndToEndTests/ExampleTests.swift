import CBench
import Glibc
import Testing

@Suite("Examples", .timeLimit(.minutes(30)))
@BenchActor
struct ExampleTests {
    @Test("01-hello comes up in order, recovers, and stops in reverse")
    func hello() async throws {
        try await withBench { bench in
            try Project.copy("examples/01-hello", to: bench)
            let config = bench.path("examples/01-hello/orchestrator.yaml")
            var launch = Launch(bench.arguments(["-f", config, "up"]))
            launch.directory = bench.directory
            let up = try bench.start(launch)
            try await bench.printed("hello", by: up)
            let order = ["the stage is set", "clock is running", "hello"]
            let places = order.compactMap { up.output.firstRange(of: $0)?.lowerBound }
            #expect(places.count == 3 && places == places.sorted(), "\(up.output)")
            try await bench.must("-f", config, "wait", "greeter", "--timeout", "5s")
            try await bench.must("-f", config, "signal", "clock", "KILL")
            try await bench.wait("the clock to come back") { _ in
                up.output.ranges(of: "clock is running").count == 2
            }
            try await bench.must("-f", config, "wait", "clock", "--timeout", "5s")
            #expect(up.output.ranges(of: "hello").count == 1)
            try await bench.must("-f", config, "down")
            #expect(try await bench.end(of: up) == .exited(0))
            #expect(up.output.contains("goodbye"))
        }
    }

    @Test(
        "02-webstack answers through every layer, recovers from each loss, and leaves nothing",
        arguments: Privileges.isRoot ? [true, false] : [false])
    func webstack(asRoot: Bool) async throws {
        try await withBench { bench in
            let stack = try Webstack(bench, asRoot: asRoot)
            let first = try await stack.answer { $0.cache == 1 }
            for name in ["db", "cache", "app"] {
                let before = try await stack.answer { _ in true }
                try await stack.must("signal", name, "KILL")
                let after = try await stack.answer(within: .seconds(20)) { $0.pid != before.pid }
                #expect(after.pid != before.pid)
            }
            let beforeWeb = try await stack.answer { _ in true }
            try await stack.must("signal", "web", "KILL")
            let afterWeb = try await stack.answer { _ in true }
            #expect(afterWeb.pid == beforeWeb.pid, "what web needs is left alone")
            #expect(first.pid != afterWeb.pid)

            // Recovery goes in the order of the needs.
            let output = stack.up.output
            let ready = output.ranges(of: "ready to accept connections").map(\.lowerBound)
            let listening = output.ranges(of: "app: listening").map(\.lowerBound)
            #expect(ready.count >= 2 && listening.count >= 4)
            if let again = ready.last { #expect(listening.contains { $0 > again }) }

            try await stack.must("down")
            #expect(try await bench.end(of: stack.up, within: .seconds(30)) == .exited(0))
            #expect(stack.processes.isEmpty, "left: \(stack.processes.map(\.name))")
        }
    }
}

/// Files of the checkout, for cases that run as somebody who may not be able to read it.
private enum Project {
    static let root: String = {
        let parts = #filePath.split(separator: "/").dropLast(3)
        return parts.reduce("") { $0 + "/" + $1 }
    }()

    /// Copies a folder to the same place under the bench's directory.
    @BenchActor
    static func copy(_ folder: String, to bench: Bench) throws {
        var path = ""
        for part in folder.split(separator: "/") {
            path += (path.isEmpty ? "" : "/") + part
            guard !TextFile.exists(bench.path(path)) else { continue }
            try Scratch.makeFolder(bench.path(path), owner: bench.identity)
        }
        for name in TextFile.names(in: root + "/" + folder) {
            let file = folder + "/" + name
            if TextFile.kind(root + "/" + file) == S_IFDIR {
                try copy(file, to: bench)
            } else if let text = TextFile.read(root + "/" + file) {
                try TextFile.write(text, to: bench.path(file), mode: 0o755)
            }
        }
    }
}

/// A running web stack.
@BenchActor
private struct Webstack {
    struct Answer {
        let cache: Int
        let pid: Int
    }

    let up: Program
    private let bench: Bench
    private let port: Int32
    private let identity: Identity

    init(_ bench: Bench, asRoot: Bool) throws {
        self.bench = bench
        try Project.copy("examples/02-webstack", to: bench)
        try Project.copy("CShims/CLifecycle", to: bench)
        identity =
            asRoot
            ? Identity(user: nil, group: nil, programs: bench.identity.programs) : bench.identity
        port = cbench_free_port()
        bench.environment["WEBSTACK_DIR"] = bench.path("w")
        bench.environment["WEBSTACK_PORT"] = "\(port)"
        bench.environment["ORCHESTRATOR"] = bench.identity.orchestrator
        if let path = unsafe getenv("PATH") {
            bench.environment["PATH"] = unsafe String(cString: path)
        }
        up = try Self.start(bench, identity, ["up"])
    }

    private static func start(
        _ bench: Bench, _ identity: Identity, _ words: [String]
    ) throws -> Program {
        let script = bench.path("examples/02-webstack/webstack")
        var launch = Launch(["/bin/sh", script] + words)
        launch.identity = identity
        return try bench.start(launch)
    }

    func must(_ words: String...) async throws {
        let program = try Self.start(bench, identity, words)
        let ending = try await bench.end(of: program, within: .seconds(40))
        #expect(ending == .exited(0), "\(words): \(program.output)\(program.errors)")
    }

    /// Asks nginx until an answer satisfies `condition`.
    func answer(
        within limit: Duration = .seconds(30), until condition: (Answer) -> Bool
    ) async throws -> Answer {
        let deadline = Moment.now + limit
        while Moment.now < deadline {
            var launch = Launch([
                "/usr/bin/curl", "-s", "--max-time", "3", "http://127.0.0.1:\(port)/",
            ])
            launch.isOurs = false
            let curl = try bench.start(launch)
            try await bench.end(of: curl)
            if let answer = Self.parse(curl.output), condition(answer) { return answer }
            if let ending = up.ending { throw BenchError("up: \(ending)\n\(bench.story)") }
            await bench.watch(for: .milliseconds(50))
        }
        throw BenchError("no answer on port \(port)\n\(bench.story)")
    }

    private static func parse(_ text: String) -> Answer? {
        guard text.contains("\"database\": \"hello from PostgreSQL\"") else { return nil }
        func number(_ key: String) -> Int? {
            guard let place = text.firstRange(of: "\"\(key)\": ") else { return nil }
            return Int(text[place.upperBound...].prefix { $0.isNumber })
        }
        guard let cache = number("cache"), let pid = number("pid") else { return nil }
        return Answer(cache: cache, pid: pid)
    }

    /// Everything that runs in the stack's directory.
    var processes: [ProcessRow] {
        ProcessTable.inside(bench.path("w"))
    }
}
