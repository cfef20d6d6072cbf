/// `docs/reference/cli.md`, made from the command table. A test compares the file with this; it is
/// written anew with `orchestrator help --reference > docs/reference/cli.md`.
enum ReferencePage {
    /// The whole page.
    static var text: String {
        var parts = [
            "# Command line",
            "Generated from the command table: "
                + "`\(CommandTable.program) help --reference > docs/reference/cli.md`.",
            CommandTable.overview,
            "`\(CommandTable.program) [-f FILE] VERB …`",
            options(CommandTable.globals, title: "## Options of every verb"),
            "One-letter options may be joined (`-fn20`), a value follows its option or stands "
                + "behind `=`, `--` ends the options, and an option given twice keeps its last "
                + "value, except that what happens in a simulation adds up. Where a verb has a "
                + "one-letter option of its own, that one wins after the verb.",
            exitCodes,
        ]
        for group in CommandTable.groups {
            parts.append("## \(capitalized(group.title))")
            parts += group.verbs.map(section)
        }
        return parts.filter { !$0.isEmpty }.map(filled).joined(separator: "\n\n") + "\n"
    }

    /// A paragraph broken into lines; tables, headings and code stay as they are.
    private static func filled(_ part: String) -> String {
        let isText = !part.contains("\n") && !part.hasPrefix("#") && !part.hasPrefix("|")
        return isText ? HelpPage.wrapped(part, indent: 0, width: 98) : part
    }

    private static var exitCodes: String {
        let rows = ExitCode.table.map { "| \($0.number) | \($0.meaning) |" }
        return (["## Exit codes", "", "| code | meaning |", "|---|---|"] + rows)
            .joined(separator: "\n")
            + "\n\n`up` can also exit with the code of its essential service."
    }

    private static func section(_ command: CommandDefinition) -> String {
        var parts = ["### \(command.verb.rawValue)", command.abstract]
        parts += command.discussion
        parts.append("```\n\(HelpPage.wrappedUsage(command))\n```")
        if !command.arguments.isEmpty {
            let rows = command.arguments.map { "| `<\($0.name)>` | \(cell($0.help)) |" }
            parts.append((["| argument | |", "|---|---|"] + rows).joined(separator: "\n"))
        }
        parts.append(options(command.options, title: ""))
        if !command.examples.isEmpty {
            parts.append("```sh\n" + command.examples.joined(separator: "\n") + "\n```")
        }
        let codes = command.allExitCodes.map { String($0.number) }.joined(separator: ", ")
        parts.append("Exits with \(codes).")
        return parts.filter { !$0.isEmpty }.map(filled).joined(separator: "\n\n")
    }

    private static func options(_ options: [OptionDefinition], title: String) -> String {
        let shown = options.filter { !$0.isHidden }
        guard !shown.isEmpty else { return "" }
        let rows = shown.map { "| `\(HelpPage.label($0))` | \(cell($0.help)) |" }
        let table = (["| option | |", "|---|---|"] + rows).joined(separator: "\n")
        return title.isEmpty ? table : title + "\n\n" + table
    }

    private static func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }

    private static func capitalized(_ title: String) -> String {
        title.prefix(1) + title.dropFirst().lowercased()
    }
}
