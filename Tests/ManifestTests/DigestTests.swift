import Manifest
import Stoic
import Testing

@Suite("What makes a running service out of date", .timeLimit(.minutes(1)))
struct DigestTests {
    private static let base = """
        command: [x, "1"]
        environment: {A: "1", B: "2"}
        limits: {nofile: 10, core: 0}
        ready: {all: [notify, {tcp: 80}]}
        """

    private func digest(_ keys: String) throws -> UInt64 {
        let lines = keys.split(separator: "\n").map { "    \($0)\n" }.joined()
        return try load("services:\n  a:\n" + lines).service("a").spec.launchDigest
    }

    @Test("CFG-17: order, formatting, comments and the policies of a service change nothing")
    func unchanged() throws {
        let digest = try digest(Self.base)
        let reordered = """
            ready:   {all: [notify, tcp: 80]}   # a comment
            limits:
              core: 0
              nofile: {soft: 10, hard: 10}
            environment:
              A: '1'
              B: 2
            stopTimeout: 3s
            restart: always
            essential: true
            description: changed
            startTimeout: 1m
            stop: {signal: INT}
            command:
            - x
            - 1
            """
        #expect(try self.digest(reordered) == digest)
    }

    @Test("the digest is the same in every run")
    func stable() throws {
        let digest = try digest(Self.base)
        #expect(digest == 17_639_911_142_193_925_473)
    }

    @Test(
        "changes with",
        arguments: [
            "command: [x, 12]", "command: [x, \"1\", \"\"]", "workingDirectory: sub", "user: www",
            "group: www", "umask: 022", "nice: 0", "isolate: none", "control: true", "watchdog: 1s",
            "ready: notify", "ready: {all: [notify, {tcp: 81}]}", "limits: {nofile: 10}",
            "environment: {A: \"1\", B: \"3\"}", "environment: {A: \"1\"}",
            "inheritEnvironment: false", "output: {separate: true}", "output: {file: x.log}",
            "live: {tcp: 80}",
        ])
    func changed(_ key: String) throws {
        let name = key.prefix { $0 != ":" }
        let kept = Self.base.split(separator: "\n").filter { !$0.hasPrefix("\(name):") }
        let changed = (kept + [key[...]]).joined(separator: "\n")
        #expect(try digest(changed) != digest(Self.base))
    }

    @Test("changes with the variables of an environment file, not with its comments")
    func environmentFiles() throws {
        try withDirectory { directory in
            let text = "services: {a: {command: [x], environmentFile: env}}"
            func digest(_ variables: String) throws -> UInt64 {
                try write(variables, to: "\(directory)/env")
                return try load(text, file: "\(directory)/o.yaml").service("a").spec.launchDigest
            }
            let before = try digest("A=1\n")
            #expect(try digest("# comment\nA=1\n\n") == before)
            #expect(try digest("A=2\n") != before)
        }
    }
}
