/// Help pages, in the shape of swift-argument-parser.
enum HelpPage {
    /// Columns of a page.
    static let width = 80
    private static let labelWidth = 26

    /// The page of the program (`nil`) or of a verb.
    static func text(for verb: Verb?) -> String {
        verb.map { page(CommandTable.command($0)) } ?? overview()
    }

    private static func overview() -> String {
        var sections = [
            wrapped("OVERVIEW: " + CommandTable.overview, indent: 0),
            "USAGE: \(CommandTable.program) [-f <file>] <subcommand>",
            options(CommandTable.globals),
        ]
        let lists = CommandTable.groups.map { group in
            "  \(group.title)\n"
                + group.verbs.map { row($0.verb.rawValue, $0.abstract) }.joined(separator: "\n")
        }
        sections.append("SUBCOMMANDS:\n" + lists.joined(separator: "\n\n"))
        sections.append(exitCodes(ExitCode.table))
        sections.append(
            "  See '\(CommandTable.program) help <subcommand>' for detailed help.")
        return sections.joined(separator: "\n\n") + "\n"
    }

    private static func page(_ command: CommandDefinition) -> String {
        var sections = [wrapped("OVERVIEW: " + command.abstract, indent: 0)]
        sections += command.discussion.map { wrapped($0, indent: 0) }
        sections.append(wrappedUsage(command, "USAGE: "))
        if !command.arguments.isEmpty {
            let rows = command.arguments.map { row("<\($0.name)>", $0.help) }
            sections.append("ARGUMENTS:\n" + rows.joined(separator: "\n"))
        }
        sections.append(options(command.options + CommandTable.globals, shadowedBy: command))
        if !command.examples.isEmpty {
            sections.append(
                "EXAMPLES:\n" + command.examples.map { "  " + $0 }.joined(separator: "\n"))
        }
        sections.append(exitCodes(command.allExitCodes))
        return sections.joined(separator: "\n\n") + "\n"
    }

    /// `orchestrator up [--detach] [--wait[=<duration>]] [<name> ...]`.
    static func usage(_ command: CommandDefinition) -> String {
        var words = [CommandTable.program, command.verb.rawValue]
        for option in command.options where !option.isHidden {
            words.append("[\(option.name.spelled)\(valueText(option.value))]")
        }
        for argument in command.arguments {
            switch argument.arity {
            case .one: words.append("<\(argument.name)>")
            case .optional: words.append("[<\(argument.name)>]")
            case .some: words.append("<\(argument.name)> ...")
            case .any: words.append("[<\(argument.name)> ...]")
            }
        }
        return words.joined(separator: " ")
    }

    /// The usage, broken between options only.
    static func wrappedUsage(_ command: CommandDefinition, _ title: String = "") -> String {
        let bound = usage(command).replacing("> ...", with: ">\u{A0}...")
            .replacing(" <", with: "\u{A0}<")
        return wrapped(title + bound, indent: 0, hanging: 4).replacing("\u{A0}", with: " ")
    }

    static func valueText(_ value: OptionDefinition.Value) -> String {
        switch value {
        case .none: ""
        case .required(let placeholder, _): " <\(placeholder)>"
        case .optional(let placeholder, _): "[=<\(placeholder)>]"
        }
    }

    /// `-f, --file <file>`; the letter is left out where the verb uses it for something else.
    static func label(_ option: OptionDefinition, shadowedBy command: CommandDefinition? = nil)
        -> String
    {
        let isShadowed =
            command?.options.contains { $0.short == option.short && $0.name != option.name }
            ?? false
        let long = option.name.spelled + valueText(option.value)
        guard let short = option.short, !isShadowed else { return long }
        return "-\(short), \(long)"
    }

    private static func options(
        _ definitions: [OptionDefinition], shadowedBy command: CommandDefinition? = nil
    ) -> String {
        let rows = definitions.filter { !$0.isHidden }
            .map { row(label($0, shadowedBy: command), $0.help) }
        return "OPTIONS:\n" + rows.joined(separator: "\n")
    }

    private static func exitCodes(_ codes: [ExitCode]) -> String {
        "EXIT CODES:\n"
            + codes.map { row(String($0.number), $0.meaning) }.joined(separator: "\n")
    }

    /// A label and its text; a label too long for its column gets a line of its own.
    private static func row(_ label: String, _ help: String) -> String {
        let body = wrapped(help, indent: labelWidth)
        let head = "  " + label
        guard displayWidth(head) < labelWidth else { return head + "\n" + body }
        return padded(head, to: labelWidth) + body.dropFirst(labelWidth)
    }

    /// Text broken at spaces so that no line exceeds `width`, unless one word does.
    static func wrapped(
        _ text: String, indent: Int, hanging: Int = 0, width: Int = Self.width
    ) -> String {
        var lines: [String] = []
        var line = String(repeating: " ", count: indent)
        var isEmpty = true
        for word in text.split(separator: " ") {
            if !isEmpty, displayWidth(line) + 1 + displayWidth(String(word)) > width {
                lines.append(line)
                line = String(repeating: " ", count: indent + hanging)
                isEmpty = true
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return (lines + [line]).joined(separator: "\n")
    }
}
