extension CompletionScripts {
    /// The script for fish: one line for each verb, option and argument.
    static var fish: String {
        let program = CommandTable.program
        let verbs = Verb.allCases.map(\.rawValue).joined(separator: " ")
        let isAlone = "not __fish_seen_subcommand_from \(verbs)"
        var lines = [
            "# fish completion for \(program)",
            "function __\(program)_services",
            "    set -l words (commandline -opc)",
            "    set -l file",
            "    if set -l place (contains -i -- --file $words)",
            "        set file --file $words[(math $place + 1)]",
            "    end",
            "    \(program) completion --services $file 2>/dev/null",
            "end",
            "complete -c \(program) -f",
        ]
        for command in CommandTable.commands {
            lines.append(
                "complete -c \(program) -n '\(isAlone)' -a \(command.verb.rawValue) "
                    + "-d '\(fishText(command.abstract))'")
        }
        for option in CommandTable.globals {
            // One letter can mean two things: after a verb, its own meaning wins.
            var line = "complete -c \(program)"
            if option.short == "f" { line += " -n '\(isAlone)' -s f" }
            if let short = option.short, short != "f" { line += " -s \(short)" }
            lines.append(line + fishOption(option))
            if option.short == "f" {
                lines.append("complete -c \(program)" + fishOption(option))
            }
        }
        for command in CommandTable.commands {
            let isIts = "__fish_seen_subcommand_from \(command.verb.rawValue)"
            for option in command.options where !option.isHidden {
                let short = option.short.map { " -s \($0)" } ?? ""
                lines.append("complete -c \(program) -n '\(isIts)'\(short)" + fishOption(option))
            }
            for argument in command.arguments {
                guard let words = fishWords(argument.kind) else { continue }
                lines.append("complete -c \(program) -n '\(isIts)' -a '\(words)'")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func fishOption(_ option: OptionDefinition) -> String {
        let text = " -l \(option.name.rawValue) -d '\(fishText(option.help))'"
        switch option.value {
        case .none, .optional: return text
        case .required(_, .file): return text + " -r -F"
        case .required(_, let kind):
            return text + " -x" + (fishWords(kind).map { " -a '\($0)'" } ?? "")
        }
    }

    private static func fishWords(_ kind: ValueKind) -> String? {
        switch kind {
        case .choice(let words): words.joined(separator: " ")
        case .service: "(__\(CommandTable.program)_services)"
        case .incident(let form):
            form.takesName ? "(__\(CommandTable.program)_services)" : nil
        case .signal: "HUP INT TERM QUIT USR1 USR2 KILL"
        case .text, .file, .duration, .moment, .count, .pid, .assignment: nil
        }
    }

    private static func fishText(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
    }
}
