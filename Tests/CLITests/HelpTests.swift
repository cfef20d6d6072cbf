import Testing

@testable import OrchestratorCLI

@Suite("Help", .timeLimit(.minutes(1)))
struct HelpTests {
    @Test("CLI-1: every help page is as it was")
    func pages() throws {
        let pages = [HelpPage.text(for: nil)] + Verb.allCases.map { HelpPage.text(for: $0) }
        try GoldenFile("help.txt").expect(pages.joined(separator: "\n----\n\n"))
    }

    @Test("CLI-2: the reference is generated from the command table")
    func reference() throws {
        try GoldenFile(project: "docs/reference/cli.md").expect(ReferencePage.text)
    }

    @Test("every verb has exactly one definition and is in the overview")
    func complete() {
        #expect(CommandTable.commands.map(\.verb) == Verb.allCases)
        #expect(CommandTable.groups.flatMap(\.verbs).map(\.verb) == Verb.allCases)
        for command in CommandTable.commands { #expect(!command.abstract.isEmpty) }
    }

    @Test("no line is longer than the page, unless it is an example")
    func width() {
        for verb in Verb.allCases {
            let lines = HelpPage.text(for: verb).split(separator: "\n")
            for line in lines where !line.hasPrefix("  orchestrator") && !line.contains("source") {
                #expect(displayWidth(String(line)) <= HelpPage.width, "\(line)")
            }
        }
    }

    @Test("one-letter options of a verb and of all verbs are unique within each")
    func letters() {
        for command in CommandTable.commands {
            for options in [command.options, CommandTable.globals] {
                let letters = options.compactMap(\.short)
                #expect(Set(letters).count == letters.count)
            }
        }
    }

    @Test("only the last argument of a verb repeats, and none is required after an optional one")
    func arguments() {
        for command in CommandTable.commands {
            #expect(!command.arguments.dropLast().contains { $0.arity != .one })
        }
    }
}

@Suite("Exit codes", .timeLimit(.minutes(1)))
struct ExitCodeTests {
    @Test("CLI-3: the numbers are those of the contract")
    func numbers() {
        #expect(ExitCode.table.map(\.number) == [0, 1, 3, 64, 69, 70, 75, 77, 78, 130])
        for code in ExitCode.table { #expect(ExitCode(number: code.number) == code) }
        #expect(ExitCode(number: 7) == .essential(7))
    }
}
