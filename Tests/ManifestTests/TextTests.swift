import Manifest
import Stoic
import Testing

@Suite("Text to nodes: YAML and JSON", .timeLimit(.minutes(1)))
struct TextTests {
    @Test("CFG-3: a key twice names both places, in every form and at every level")
    func duplicates() {
        #expect(
            problems(
                """
                services:
                  a: {command: [x], start: auto,
                      start: manual}
                  b: {command: [x]}
                  a: {command: [y]}
                services: {}
                """) == """
                    o.yaml:3:7: services.a: "start" is already given at line 2, column 21
                    o.yaml:5:3: services: "a" is already given at line 2, column 3
                    o.yaml:6:1: "services" is already given at line 1, column 1
                    """)
        #expect(
            problems(
                """
                {"services": {"a": {"command": ["x"]},
                  "\\u0061": {"command": ["x"]}}}
                """, file: "/project/o.json") == """
                    o.json:2:3: services: "a" is already given at line 1, column 15
                    """)
        #expect(
            problemsOfOne("environment: [A=1, B=2, A=3]\nneeds: [a1, a1]") == """
                services.a.environment[2]: "A" is already given at line 4, column 19
                services.a.needs: no service "a1" (did you mean "a"?)
                services.a.needs: a1 is already listed at line 5, column 13
                """)
    }

    @Test(
        "CFG-6: what is not one UTF-8 document is refused with its place",
        arguments: [
            ([], "o.yaml:1:1: the file is empty (it needs at least services)"),
            (
                Array("# nothing\n\n".utf8),
                "o.yaml:1:1: the file is empty (it needs at least services)"
            ),
            (
                Array("a: 1\n---\nb: 2\n".utf8),
                "o.yaml:2:1: a second document begins here; a config is one document "
                    + "(remove the --- line)"
            ),
            (Array("a: x\n☃: ".utf8) + [0], "o.yaml:2:4: the file contains a NUL byte"),
            (Array("a: ☃".utf8) + [0xFF], "o.yaml:1:5: byte 0xFF is not UTF-8"),
            (Array("a: ".utf8) + [0xC3], "o.yaml:1:4: byte 0xC3 is not UTF-8"),
            (
                [0xEF, 0xBB, 0xBF] + Array("a: 1".utf8),
                "o.yaml:1:1: the file begins with a byte order mark "
                    + "(save it as UTF-8 without a byte order mark)"
            ),
            (
                [0xFF, 0xFE, 0x61, 0x00],
                "o.yaml:1:1: the file is UTF-16 (save it as UTF-8 without a byte order mark)"
            ),
            (Array("just text".utf8), "o.yaml:1:1: expected a map, found \"just text\""),
            (Array("- a".utf8), "o.yaml:1:1: expected a map, found a list"),
            (
                Array("services: \"x\\0y\"".utf8),
                "o.yaml:1:11: services: the text contains a NUL character, which no program can "
                    + "be given"
            ),
        ] as [([UInt8], String)])
    func notText(_ bytes: [UInt8], _ expected: String) { #expect(problems(bytes) == expected) }

    @Test(
        "CFG-7: broken syntax is refused with its place",
        arguments: [
            (
                "services:\n  a: {command: [x]\n",
                "o.yaml:3:1: cannot read YAML: did not find expected ',' or '}', "
                    + "while parsing a flow mapping that begins on line 2"
            ),
            (
                "services:\n\ta: 1\n",
                "o.yaml:2:1: cannot read YAML: found character that cannot start any token, "
                    + "while scanning for the next token "
                    + "(indent with spaces, not tabs; quote text that begins with @ or %)"
            ),
            (
                "a: 'x\n",
                "o.yaml:2:1: cannot read YAML: found unexpected end of stream, "
                    + "while scanning a quoted scalar that begins on line 1"
            ),
            ("a: *x", "o.yaml:1:4: a: nothing is called &x above this line"),
            ("a: &x [*x]", "o.yaml:1:8: a[0]: *x stands inside what it repeats"),
            ("a: &yes 1\nb: *yse", "o.yaml:2:4: b: nothing is called &yes above this line"),
            ("[a]: 1", "o.yaml:1:1: a key has to be text, not a list or a map"),
            ("? {a: 1}\n: 2", "o.yaml:1:3: a key has to be text, not a list or a map"),
            (
                "a: !!int 1",
                "o.yaml:1:4: a: tags such as \"tag:yaml.org,2002:int\" mean nothing here "
                    + "(remove it: every key has its type)"
            ),
            ("<<: 1", "o.yaml:1:5: <<: << takes a map or a list of maps, not \"1\""),
        ])
    func brokenYAML(_ text: String, _ expected: String) {
        let found = problems(text)
        let near = expected.replacing("&yes above", with: "&yse above")
        // What else is wrong with so short a config is found in the same pass.
        #expect(found.split(separator: "\n").contains { $0.hasPrefix(near) }, "\(found)")
    }

    @Test(
        "CFG-7: broken JSON is refused with its place",
        arguments: [
            ("{\"services\": {\n  \"a\": [1,]}}", "o.json:2:"),
            ("{\"services\": {}", "o.json:1:"), ("{\"a\": 01}", "o.json:1:"), ("{} x", "o.json:1:"),
            ("", "o.json:"), ("{\"a\": \"\\ud83d\"}", "o.json:1:"),
            ("{\"services\": null}", "o.json:1:14: services: expected a map, found null"),
            ("[1]", "o.json:1:1: expected a map, found a list"),
            ("7", "o.json:1:1: expected a map, found \"7\""),
        ])
    func brokenJSON(_ text: String, _ start: String) {
        let found = problems(text, file: "/project/o.json")
        #expect(found.hasPrefix(start), "\(found)")
    }

    @Test("CFG-9: aliases are expanded within the cap, and depth has one")
    func bombs() {
        var bomb = "x-0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n"
        for level in 1...9 {
            let items = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            bomb += "x-\(level): &a\(level) [\(items)]\n"
        }
        #expect(problems(bomb).contains("more than 100000 values"))
        let merged = "x-m: &m {\((0..<400).map { "k\($0): v" }.joined(separator: ", "))}\nx-l:\n"
        let merging = merged + String(repeating: "  - {<<: *m}\n", count: 200)
        #expect(problems(merging).contains("more than 100000 values"))
        let deep = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
        #expect(problems("x-a: " + deep).contains("nested more than 64 deep"))
        #expect(problems("{\"x-a\": \(deep)}", file: "/project/o.json").contains("64 deep"))
        let many = "x-a: [" + String(repeating: "1,", count: 100_000) + "]"
        #expect(problems(many).contains("more than 100000 values"))
    }

    @Test("anchors, merging and block text mean what YAML says")
    func yamlFeatures() throws {
        let project = try load(
            """
            x-base: &base
              stopTimeout: 3s
              environment: &environment {A: "1", B: "2"}
            x-more: &more {stopTimeout: 4s, startTimeout: 5s}
            services:
              a:
                <<: [*base, *more]
                command: [a]
              b:
                command: [b]
                environment: {<<: *environment, B: own}
                stopTimeout: 9s
                <<: *base
              c:
                shell: true
                command: |
                  one
                  two
            """)
        let a = try project.service("a")
        #expect(a.spec.stopTimeout == .seconds(3))
        #expect(a.spec.startTimeout == .seconds(5))
        #expect(a.variable("A") == "1")
        let b = try project.service("b")
        #expect(b.spec.stopTimeout == .seconds(9))
        #expect(b.variable("A") == "1")
        #expect(b.variable("B") == "own")
        #expect(
            try project.service("c").launch.command.last == Template(literal: "one\ntwo"))
    }

    @Test("JSON and YAML say the same, and numbers keep their digits")
    func equivalence() throws {
        let json = """
            {"services": {"a": {"command": ["x", "\\ud83d\\ude00", 1.50], "essential": true,
              "environment": {"PORT": 08080e0}}}}
            """.replacing("08080e0", with: "8080.10")
        let yaml = """
            services:
              a: {command: [x, 😀, 1.50], essential: true, environment: {PORT: 8080.10}}
            """
        let fromJSON = try load(json, file: "/project/orchestrator.json")
        let fromYAML = try load(yaml)
        #expect(fromJSON.services == fromYAML.services)
        #expect(try fromJSON.service("a").launch.command.count == 3)
        #expect(try fromJSON.service("a").variable("PORT") == "8080.10")
    }
}
