import Glibc
import Testing

@Suite("Cases: config", .timeLimit(.minutes(30)))
@BenchActor
struct ConfigCases {
    @Test(
        "C18: cycles are refused with their path",
        arguments: [
            (["a needs b", "b needs c", "c needs a"], "a → b → c → a"),
            (["a needs a"], "a → a"),
            (
                [
                    "g1 needs g2", "g2 needs g3", "g3 needs g4", "g4 needs g5", "g5 needs a",
                    "a needs b", "b needs a",
                ], "a → b → a"
            ),
        ])
    func cycles(edges: [String], path: String) async throws {
        try await withBench { bench in
            let services = edges.map { edge -> Service in
                let words = edge.split(separator: " ").map(String.init)
                return .puppet(words[0], "", "needs: [\(words[2])]")
            }
            try bench.config(services: services)
            let up = try bench.up()
            #expect(try await bench.end(of: up, within: .seconds(5)) == .exited(78))
            let took = try #require(up.ended) - up.begun
            #expect(took < .seconds(1))
            #expect(up.errors.contains(path), "\(up.errors)")
            #expect(bench.events.isEmpty)
        }
    }

    @Test("C18: a chain of 5,000 loads")
    func longChain() async throws {
        try await withBench { bench in
            let services = (0..<5_000).map { number in
                number == 0
                    ? Service.command("s0", ["true"])
                    : .command("s\(number)", ["true"], "needs: [s\(number - 1)]")
            }
            try bench.config(services: services)
            try await bench.must("check", within: .seconds(50))
        }
    }

    @Test("C19: a name or a key that stands twice is refused with both places")
    func duplicates() async throws {
        try await withBench { bench in
            try bench.write(
                "services:\n  a:\n    command: [true]\n  a:\n    command: [false]\n",
                to: "orchestrator.yaml")
            let twice = try await bench.run("up")
            #expect(twice.ending == .exited(78))
            #expect(twice.errors.contains("4:3"), "\(twice.errors)")
            #expect(twice.errors.contains("line 2, column 3"), "\(twice.errors)")
            try bench.write(
                "services:\n  a:\n    command: [true]\n    essential: true\n    command: [false]\n",
                to: "orchestrator.yaml")
            let key = try await bench.run("up")
            #expect(key.ending == .exited(78))
            #expect(key.errors.contains("5:5"), "\(key.errors)")
            #expect(key.errors.contains("line 3, column 5"), "\(key.errors)")
            #expect(bench.journal.isEmpty, "nothing was started")
        }
    }

    @Test("C20: values of the environment arrive byte for byte")
    func environmentValues() async throws {
        try await withBench { bench in
            bench.environment["FROM_CALLER"] = "as it is: $X #1"
            let values = [
                ("A", "x"), ("B", "$A"), ("C", "$A"), ("D", "5$"), ("E", "p@ss#word"),
                ("F", "two words"), ("G", ""), ("H", "k=v"), ("Q", "a\"b\\c'd"),
            ]
            let lines = values.map { name, value in
                name == "B" ? "  B: '$A'" : "  \(name): \(Service.quoted(value))"
            }
            try bench.write(
                """
                services:
                  a:
                    command: [\(bench.identity.puppet), a, --print-env, env]
                    environment:
                    \(lines.joined(separator: "\n    "))

                """, to: "orchestrator.yaml")
            let up = try bench.up()
            try await bench.saw("a", "copied")
            let entries = (TextFile.bytes(bench.path("env")) ?? []).split(separator: 0).map {
                String(decoding: $0, as: UTF8.self)
            }
            for (name, value) in values + [("FROM_CALLER", "as it is: $X #1")] {
                #expect(entries.filter { $0.hasPrefix(name + "=") } == ["\(name)=\(value)"])
            }
            up.signal(SIGTERM)
            try await bench.end(of: up)
        }
    }

    @Test("C20: a variable that is not set is an error, unless it has a default")
    func unsetVariable() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .puppet("a", "", "environment: {I: \"${NOPE}\"}")
            ])
            let up = try await bench.run("up")
            #expect(up.ending == .exited(78))
            #expect(up.errors.contains("NOPE"))
            #expect(bench.events.isEmpty)
            try bench.config(services: [
                .puppet("a", "", "environment: {I: \"${NOPE:-spare}\"}")
            ])
            try await bench.must("check")
        }
    }
}
