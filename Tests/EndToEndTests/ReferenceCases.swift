import Glibc
import Testing

@testable import Orchestrator

/// The members of real answers against `docs/reference/control-api.md`.
@Suite("Cases: the control API is what its reference says", .timeLimit(.minutes(30)))
@BenchActor
struct ReferenceCases {
    @Test("CTL-51: every member of an answer is in the reference, and the other way round")
    func members() async throws {
        try await withBench { bench in
            let documented = try Self.documented()
            var found = Found()
            try await Self.run(bench, &found)
            for kind in documented.keys.sorted() {
                let seen = found.members[kind] ?? []
                let words = documented[kind] ?? []
                #expect(seen.subtracting(words).sorted() == [], "\(kind): not in the reference")
                #expect(
                    words.subtracting(seen).subtracting(Self.rare[kind] ?? []).sorted() == [],
                    "\(kind): in the reference, and never seen")
            }
            #expect(Set(found.members.keys) == Set(documented.keys))
        }
    }

    /// What takes a broken stream or a full disk to be seen.
    private static let rare: [String: Set<String>] = [
        "line": ["cut", "continued", "unfinished"]
    ]

    /// The members of each `### kind` of the reference.
    private static func documented() throws -> [String: Set<String>] {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let text = try #require(TextFile.read("/\(root)/docs/reference/control-api.md"))
        var all: [String: Set<String>] = [:]
        var kind: String?
        for line in text.split(separator: "\n") {
            if line.hasPrefix("#") {
                kind = line.hasPrefix("### ") ? String(line.dropFirst(4)) : nil
            }
            guard let kind, line.hasPrefix("| `") else { continue }
            // The first column: one name, or several.
            let cell = line.dropFirst(2).prefix { $0 != "|" }
            for name in cell.split(separator: "`") where name.allSatisfy(\.isLetter) {
                all[kind, default: []].insert(String(name))
            }
        }
        return all
    }

    /// The members met so far, by kind.
    struct Found {
        var members: [String: Set<String>] = [:]

        mutating func note(_ kind: String, _ value: JSONValue?) {
            for element in value?.array ?? [value].compactMap(\.self) {
                guard let object = element.object else { continue }
                members[kind, default: []].formUnion(object.members.map(\.key))
            }
        }

        mutating func note(service: JSONValue) {
            note("service", service)
            note("blocker", service["blockers"])
            note("stopping", service["stopping"])
        }

        mutating func note(lines: [JSONValue]) {
            for line in lines {
                note("event", line["event"])
                note("error", line["error"])
                note("result", line["result"])
                note("survivor", line["result"]?["survivors"])
            }
        }
    }

    private static func run(_ bench: Bench, _ found: inout Found) async throws {
        let tool = bench.identity.orchestrator
        try bench.config(
            services: [
                .script(
                    "talks", "echo hello; \(tool) notify --ready --status busy; exec sleep 100",
                    "ready: notify", "description: says so"),
                .script(
                    "fails", "echo oops; exit 3",
                    "restart: {policy: always, backoff: {initial: 20s}}",
                    "ready: {started: {for: 100ms}}", "onStartFailure: keep"),
                .script("waits", "true", "needs: [fails]"),
                .script(
                    "quits", "exit 4", "type: oneshot", "start: manual", "restart: no",
                    "onStartFailure: keep"),
                .puppet("held"),
                .puppet(
                    "stubborn", "--term ignore", "needs: [held]", "stopTimeout: 3s",
                    "stop: [{signal: INT, wait: 1s}, {signal: TERM}]"),
            ])
        let up = try bench.up()
        try await bench.must("wait", "talks", "--for", "ready")
        try await bench.saw("stubborn", "start")
        found.note("version", try bench.value("/v1/version"))
        found.note("plan", try bench.value("/v1/plan", method: "POST"))
        try await bench.poll("status", until: { $0.contains("backing off") })
        let stop = try bench.start(Launch(bench.arguments(["stop", "held", "--json"])))
        try await bench.saw("stubborn", "got")
        let status = try bench.value("/v1/status")
        found.note("status", status)
        found.note("project", status["project"])
        for service in status["services"]?.array ?? [] { found.note(service: service) }
        found.note(service: try bench.value("/v1/services/talks"))
        found.note("event", .array(try await bench.json("events")))
        found.note("line", .array(try await bench.json("logs")))
        found.note(lines: [try bench.value("/v1/services/nobody")])
        try await bench.end(of: stop)
        found.note(lines: try lines(of: stop))
        try await change(bench, &found)
        let down = try bench.start(Launch(bench.arguments(["down", "--json"])))
        try await bench.end(of: down)
        found.note(lines: try lines(of: down))
        try await bench.end(of: up)
    }

    /// What only a changed config, a failure and a survivor show. A tree that outlives SIGKILL
    /// cannot be had here: its line is the engine's own, from the same function.
    private static func change(_ bench: Bench, _ found: inout Found) async throws {
        try bench.config(services: [.script("fails", "exit 4", "onStartFailure: keep")])
        found.note("change", try bench.value("/v1/plan", method: "POST")["changes"])
        found.note(lines: try await bench.json("start", "quits"))
        try bench.write("services: {a: {}}\n", to: "orchestrator.yaml")
        found.note(lines: [try bench.value("/v1/plan", method: "POST")])
        let survivor = ProjectResult.Survivor(service: "a", pid: 7, command: "x").json
        found.note(lines: [.result(3, "survivors", "left", survivors: [survivor])])
    }

    private static func lines(of program: Program) throws -> [JSONValue] {
        try program.output.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
    }
}

extension Bench {
    /// The JSON that a path answers with.
    fileprivate func value(_ target: String, method: String = "GET") throws -> JSONValue {
        let answer = ask(method, target)
        let body = try #require(answer.split(separator: "\r\n\r\n", maxSplits: 1).last)
        return try JSONValue(parsing: Array(body.utf8))
    }
}
