import Testing

/// Each rule against a small bad sample, and against its repaired twin. A rule that cannot fail is
/// a defect, so a rule without a sample fails the suite.
@Suite("Rules, on samples", .timeLimit(.minutes(10)))
struct RuleSampleTests {
    @Test("finds", arguments: RuleSample.all)
    func finds(_ sample: RuleSample) throws {
        let rule = try #require(
            (Rule.all + [RuleSample.ownPathsOfOurs]).first { $0.name == sample.rule })
        let found = rule.check(sample.file(sample.bad)).map { "\($0.line): \($0.message)" }
        #expect(found == sample.expected)
        #expect(rule.check(sample.file(sample.good)) == [])
    }

    @Test("every rule has a sample")
    func everyRuleHasASample() {
        let sampled = Set(RuleSample.all.map(\.rule))
        #expect(Set(Rule.all.map(\.name)).subtracting(sampled) == [])
    }

    @Test("a file is measured by its lines")
    func longFile() {
        let text = String(repeating: "let x = 1\n", count: 401)
        let source = SourceFile(path: "Sources/Stoic/X.swift", text: text)
        let test = SourceFile(path: "Tests/StoicTests/X.swift", text: text)
        #expect(Rule.fileLength.check(source).map(\.message).first?.hasPrefix("401 lines") == true)
        #expect(Rule.fileLength.check(test) == [])
    }

    @Test("a script must be executable")
    func plainScript() {
        let script = SourceFile(path: "scripts/x", text: "#!/bin/sh\n", isExecutable: false)
        #expect(Rule.scripts.check(script).map(\.message) == ["not executable: chmod +x"])
    }

    @Test("a top folder of one machine is found, one of any system is not")
    func ownPaths() {
        let file = SourceFile(path: "README.md", text: "see /depot/ours/x\nand /opt/x\n")
        let found = Rule.ownPaths(root: "/depot/checkout").check(file)
        #expect(found.map(\.line) == [1])
        #expect(Rule.ownPaths(root: "/opt/checkout").check(file) == [])
    }

    @Test("open rows, unknown claims and doubled rows are found")
    func contractRows() {
        let contract = SourceFile(
            path: "docs/design/01-x.md",
            text: "| row | what |\n|---|---|\n| XX-1 | a |\n| `XX-2` | b |\n| XX-1 | c |\n")
        let tests = SourceFile(
            path: "Tests/XTests/X.swift",
            text: "@Test(\"XX-1, XX-9: both\")\n@Test(\n    \"XX-10: a name on its own line\"\n)\n")
        let found = ContractRows.findings(contracts: [contract], tests: [tests])
        #expect(
            found.map(\.description) == [
                "Tests/XTests/X.swift:1: XX-9 stands in no table of docs/design",
                "Tests/XTests/X.swift:3: XX-10 stands in no table of docs/design",
                "docs/design/01-x.md:4: XX-2 is claimed by no test: @Test(\"XX-2: …\")",
                "docs/design/01-x.md:5: XX-1 stands twice, also in docs/design/01-x.md:3",
            ])
    }

    @Test("an event of a row that no claiming test looks at is found, whatever other tests do")
    func contractEvents() {
        let contract = SourceFile(
            path: "docs/design/20-x.md",
            text: """
                | XX-1 | a | b | `door.opened .closed` of the one, reason `why` |
                | XX-2 | a | b | `door.opened` |
                | XX-3 | a | b | `door.gone` |
                """)
        let events = SourceFile(
            path: "Sources/Stoic/Door.swift",
            text: """
                    static let doorOpened = EventName("door.opened")
                    static let doorClosed = EventName("door.closed")
                """)
        let tests = SourceFile(
            path: "Tests/DoorTests/Door.swift",
            text: """
                    @Test("XX-1: both")
                    func both() {
                        #expect(heard("door.opened") && isClosed())
                    }

                    private func isClosed() -> Bool {
                        names.contains(.doorClosed)
                    }

                    @Test("XX-2, XX-3: neither")
                    func neither() {
                        #expect(heard("door.openedTwice"))
                    }
                """)
        let found = ContractEvents.findings(
            contracts: [contract], sources: [events], tests: [tests])
        #expect(
            found.map(\.description) == [
                "docs/design/20-x.md:2: XX-2: no test that claims it looks at door.opened",
                "docs/design/20-x.md:3: XX-3: nothing reports door.gone",
            ])
    }

    @Test("an exemption covers its own rule and file only")
    func exemptions() {
        let finding = Finding(rule: "print", path: "a", line: 1, message: "")
        func covers(_ rule: String, _ path: String) -> Bool {
            let exemption = Exemption(rule: rule, path: path, reason: "sample")
            return Exemption.uncovered([finding], by: [exemption]).isEmpty
        }
        #expect(covers("print", "a"))
        #expect(!covers("print", "b"))
        #expect(!covers("sleep", "a"))
    }

    @Test("code is what is left of a text without comments and strings")
    func codeOnly() {
        let rows: [(String, String)] = [
            ("a // b", "a     "),
            ("a /* b /* c */ d */ e", "a                   e"),
            ("x = \"try?\" y", "x = \"    \" y"),
            ("x = \"\\(f(\")\")) z\" y", "x = \"           \" y"),
            ("x = #\"a\"b\\#(c)\"# y", "x =  \"        \"  y"),
            ("\"\"\"\na \"b\"\n\"\"\" c", "\"\"\"\n     \n\"\"\" c"),
            ("c = '\"'; d", "c =    ; d"),
            ("c = '\\''; d", "c =     ; d"),
        ]
        for (source, code) in rows { #expect(CodeOnly.text(of: source) == code) }
    }
}
