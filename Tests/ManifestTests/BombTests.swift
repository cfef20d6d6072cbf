import Manifest
import Stoic
import Testing

/// Small files that would come to something huge. Each case was a hang, gigabytes or a crash before
/// its cap; the time limit of the suite is part of what is tested.
@Suite("Configs that explode", .timeLimit(.minutes(1)))
struct BombTests {
    private static let tooMuch =
        "up to here the services have more than 1000000 values or 64MiB of text, what they extend "
        + "and share counted for each (share less, or put it into an environmentFile)"

    @Test("CFG-23: what thousands of services share is counted for each")
    func sharing() {
        let variables = (0..<1_200).map { "V\($0): x" }.joined(separator: ", ")
        let heirs = (0..<1_200).map { "  s\($0): {extends: base}\n" }.joined()
        let base = "services:\n  base: {command: [x], environment: {\(variables)}}\n"
        #expect(problems(base + heirs).hasSuffix(Self.tooMuch))
        let services = "services:\n" + (0..<1_200).map { "  s\($0): {command: [x]}\n" }.joined()
        #expect(problems("environment: {\(variables)}\n" + services).hasSuffix(Self.tooMuch))
        #expect(
            problems("defaults: {environment: {\(variables)}}\n" + services).hasSuffix(Self.tooMuch)
        )
        let long = String(repeating: "x", count: 64 << 10)
        let text = "services:\n  base: {command: [x], environment: {A: \(long)}}\n"
        #expect(problems(text + heirs).hasSuffix(Self.tooMuch))
        #expect(problems(text + heirs).split(separator: "\n").count == 1)
    }

    @Test("CFG-23: two thousand services share a dozen variables")
    func ordinarySharing() throws {
        let variables = (0..<12).map { "V\($0): x" }.joined(separator: ", ")
        let services = (0..<2_000).map { "  s\($0): {command: [x]}\n" }.joined()
        let project = try load("environment: {\(variables)}\nservices:\n" + services)
        #expect(project.services.count == 2_000)
    }

    @Test("CFG-9: aliases repeat text only within the cap")
    func repeatedText() {
        let long = String(repeating: "$$", count: 1 << 17)
        let uses = (0..<1_000).map { "B\($0): *a" }.joined(separator: ", ")
        let text = "services: {a: {command: [x], environment: {A: &a \"\(long)\", \(uses)}}}"
        #expect(problems(text).hasSuffix("B64: aliases repeat more than 16MiB of text"))
        let merged = (0..<40).map { "x-\($0): {<<: *m}\n" }.joined()
        #expect(
            problems("x-m: &m {a: \"\(long)\"}\n" + merged)
                .hasSuffix("x-31.<<: aliases repeat more than 16MiB of text"))
    }

    @Test("CFG-23: the variables of the caller bring in text only within the cap")
    func variables() {
        let uses = Array(repeating: "${BIG}", count: 2_000).joined()
        let big = ["BIG": String(repeating: "y", count: 100_000)]
        #expect(
            problemsOfOne("description: x\nworkingDirectory: \"\(uses)\"", environment: big)
                == "services.a.workingDirectory: the variables of this config come to more than "
                + "16MiB of text")
    }

    @Test("CFG-24: thousands of %TAG lines are refused where they are too many")
    func tagLines() {
        let tags = (0..<5_000).map { "%TAG !a\($0)! x\n" }.joined()
        #expect(
            problems(tags + "---\n" + one(""))
                == "o.yaml:101:1: there are more than 100 %TAG lines "
                + "(remove them: tags mean nothing here)")
    }

    @Test("CFG-24: JSON of millions of values is refused before it becomes a tree")
    func manyValues() {
        let text = "[" + String(repeating: "{},", count: 60_000) + "{}]"
        #expect(
            problems(text, file: "/project/o.json")
                == "o.json:1:150001: the file has more than 100000 values")
        let quoted = String(repeating: "{,\\\"", count: 60_000)
        let fine = "{\"services\": {\"a\": {\"command\": [\"\(quoted)\"]}}}"
        #expect(problems(fine, file: "/project/o.json").isEmpty)
    }

    @Test("CFG-24: a key of megabytes is refused, and no message is as long")
    func longKey() {
        let key = String(repeating: "k", count: 100_000)
        #expect(
            problems("services: {? \(key)\n: {command: [x]}}")
                == "o.yaml:1:14: services: a key has 100000 bytes, and at most 1024 are taken")
        let name = String(repeating: "A", count: 10_000)
        #expect(problemsOfOne("workingDirectory: \"${\(name)}\"").utf8.count < 1_000)
        #expect(problemsOfOne("workingDirectory: \"${\(name) }\"").utf8.count < 1_000)
        #expect(problemsOfOne("workingDirectory: \"${A:?\(name)}\"").utf8.count < 1_000)
    }

    @Test(
        "CFG-25: an expression that libc would blow up is refused",
        arguments: [
            "(((x{1,100}){1,100}){1,100})", "(((x{100}){100}){100})", "x{1,255}{1,255}{1,255}",
            String(repeating: "(", count: 40) + "x" + String(repeating: ")+", count: 40),
        ])
    func expression(_ text: String) {
        let found = problemsOfOne("ready: {log: \"\(text)\"}")
        #expect(found.contains("is more than 10000 parts once its repetitions"), "\(found)")
    }

    @Test(
        "CFG-25: an ordinary expression is taken",
        arguments: [
            "listening on [[:digit:]]{1,5}", "^[]a-z]+(\\\\.|$)", "x{1,255}", "(a|b)*c?", "x{1000}",
            "started in ([0-9]+[.])?[0-9]+ s", "a{,3}",
        ])
    func ordinaryExpression(_ text: String) {
        #expect(problemsOfOne("ready: {log: \"\(text)\"}").isEmpty)
    }

    @Test("CFG-26: tags, aliases, merges and NULs that mean nothing are found in one pass")
    func onePass() {
        #expect(
            problems(
                """
                services:
                  a: {command: [x], start: !!int auto, description: *nothing}
                  b: {command: *none, <<: 1, nice: 99}
                  c: {command: [x], <<: *gone, description: "\\0", neds: [a]}
                """) == """
                    o.yaml:2:28: services.a.start: tags such as "tag:yaml.org,2002:int" mean \
                    nothing here (remove it: every key has its type)
                    o.yaml:2:53: services.a.description: nothing is called &nothing above this line
                    o.yaml:3:16: services.b.command: nothing is called &none above this line
                    o.yaml:3:27: services.b.<<: << takes a map or a list of maps, not "1"
                    o.yaml:3:36: services.b.nice: expected a whole number from -20 to 19, found "99"
                    o.yaml:4:25: services.c.<<: nothing is called &gone above this line
                    o.yaml:4:45: services.c.description: the text contains a NUL character, which \
                    no program can be given
                    o.yaml:4:51: services.c: unknown key "neds" (did you mean "needs"?)
                    """)
    }
}
