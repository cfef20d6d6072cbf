/// Completion scripts, made from the command table. Names of services are asked from the program
/// at the time of completion; nothing is printed where there is no config.
enum CompletionScripts {
    private static let program = CommandTable.program

    /// The script for `bash`, `zsh` or `fish`; `nil` for any other shell.
    static func script(for shell: String) -> String? {
        switch shell {
        case "bash": bash
        case "zsh": zsh
        case "fish": fish
        default: nil
        }
    }

    /// What a value of this kind can be completed with.
    private enum Candidates {
        case words([String])
        case services
        case files
        case none

        init(_ kind: ValueKind) {
            switch kind {
            case .choice(let words): self = .words(words)
            case .signal: self = .words(["HUP", "INT", "TERM", "QUIT", "USR1", "USR2", "KILL"])
            case .service: self = .services
            case .file: self = .files
            case .incident(let form): self = form.takesName ? .services : .none
            case .text, .duration, .moment, .count, .pid, .assignment: self = .none
            }
        }
    }

    private static func shown(_ options: [OptionDefinition]) -> [OptionDefinition] {
        options.filter { !$0.isHidden }
    }

    private static func candidates(_ option: OptionDefinition) -> Candidates? {
        switch option.value {
        case .required(_, let kind): Candidates(kind)
        case .none, .optional: nil
        }
    }

    // MARK: bash

    private static var bash: String {
        let verbs = Verb.allCases.map(\.rawValue).joined(separator: " ")
        let globals = flags(CommandTable.globals)
        return """
            # bash completion for \(program); load it with: source <(\(program) completion bash)
            _\(program)_services() {
                local file=() i
                for ((i = 1; i < COMP_CWORD; i++)); do
                    case ${COMP_WORDS[i]} in
                        --file) file=(--file "${COMP_WORDS[i + 1]}") ;;
                        -f) [[ -z $1 ]] && file=(--file "${COMP_WORDS[i + 1]}") ;;
                    esac
                    [[ ${COMP_WORDS[i]} == "$verb" ]] && set -- after
                done
                \(program) completion --services "${file[@]}" 2>/dev/null
            }
            _\(program)() {
                local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
                local verb= words= i
                for ((i = 1; i < COMP_CWORD; i++)); do
                    case ${COMP_WORDS[i]} in
                        -f | --file | --color) ((i++)) ;;
                        -*) ;;
                        *) verb=${COMP_WORDS[i]}; break ;;
                    esac
                done
                COMPREPLY=()
                case $verb:$before in
            \(bashValues())
                esac
                case $verb in
                    '') words="\(globals) \(verbs)" ;;
            \(bashVerbs())
                esac
                local IFS=$' \\t\\n'
                COMPREPLY=($(compgen -W "$words" -- "$current"))
            }
            complete -o filenames -o default -F _\(program) \(program)

            """
    }

    /// The options of a verb as words, long and short.
    private static func flags(_ options: [OptionDefinition]) -> String {
        shown(options).flatMap { option in
            [option.name.spelled] + (option.short.map { ["-\($0)"] } ?? [])
        }.joined(separator: " ")
    }

    private static func bashValues() -> String {
        var lines: [String] = []
        for command in CommandTable.commands {
            for option in shown(command.options) {
                guard let candidates = candidates(option) else { continue }
                let short = option.short.map { " | \(command.verb.rawValue):-\($0)" } ?? ""
                let pattern = "\(command.verb.rawValue):\(option.name.spelled)\(short)"
                lines.append("        \(pattern)) \(bashReply(candidates)) ;;")
            }
        }
        lines.append("        *:--color) \(bashReply(.words(["auto", "always", "never"]))) ;;")
        lines.append("        *:--file | :-f) \(bashReply(.files)) ;;")
        return lines.joined(separator: "\n")
    }

    private static func bashReply(_ candidates: Candidates) -> String {
        switch candidates {
        case .words(let words):
            "COMPREPLY=($(compgen -W \"\(words.joined(separator: " "))\" -- \"$current\")); return"
        case .services:
            "COMPREPLY=($(compgen -W \"$(_\(program)_services)\" -- \"$current\")); return"
        case .files, .none: "return"
        }
    }

    private static func bashVerbs() -> String {
        CommandTable.commands.map { command in
            var words = flags(command.options + CommandTable.globals)
            for argument in command.arguments {
                switch Candidates(argument.kind) {
                case .words(let choices): words += " " + choices.joined(separator: " ")
                case .services: words += " $(_\(program)_services)"
                case .files, .none: break
                }
            }
            return "        \(command.verb.rawValue)) words=\"\(words)\" ;;"
        }.joined(separator: "\n")
    }

    // MARK: zsh

    private static var zsh: String {
        let verbs = CommandTable.commands.map {
            "        '\($0.verb.rawValue):\(zshText($0.abstract))'"
        }.joined(separator: "\n")
        let cases = CommandTable.commands.map { command in
            let specs =
                shown(command.options + CommandTable.globals).flatMap {
                    zshOption($0, shadowedBy: command)
                } + command.arguments.enumerated().map { zshArgument($1, at: $0 + 1) }
            return "        \(command.verb.rawValue)) _arguments -s \\\n            "
                + specs.joined(separator: " \\\n            ") + " ;;"
        }.joined(separator: "\n")
        let globals = shown(CommandTable.globals).flatMap { zshOption($0, shadowedBy: nil) }
            .joined(separator: " \\\n        ")
        return """
            #compdef \(program)
            # zsh completion for \(program); save it as _\(program) in a directory of $fpath
            _\(program)_services() {
                local -a file services
                (( ${+opt_args[--file]} )) && file=(--file ${opt_args[--file]})
                services=(${(f)"$(\(program) completion --services $file 2>/dev/null)"})
                compadd -a services
            }
            _\(program)() {
                local state line
                local -A opt_args
                local -a verbs
                verbs=(
            \(verbs)
                )
                _arguments -C \\
                    \(globals) \\
                    '1:subcommand:->verb' '*::argument:->rest'
                case $state in
                    verb) _describe -t verbs subcommand verbs; return ;;
                    rest) ;;
                    *) return ;;
                esac
                case $words[1] in
            \(cases)
                esac
            }
            if [[ $funcstack[1] == _\(program) ]]; then
                _\(program) "$@"
            else
                compdef _\(program) \(program)
            fi

            """
    }

    private static func zshOption(
        _ option: OptionDefinition, shadowedBy command: CommandDefinition?
    ) -> [String] {
        let text = zshText(option.help)
        let isShadowed =
            command?.options.contains { $0.short == option.short && $0.name != option.name }
            ?? false
        var names = [option.name.spelled]
        if let short = option.short, !isShadowed { names.append("-\(short)") }
        let star = option.repeats ? "*" : ""
        return names.map { name in
            switch option.value {
            case .none: "'\(name)[\(text)]'"
            case .required(let placeholder, let kind):
                "'\(star)\(name)\(name.hasPrefix("--") ? "=" : "+")[\(text)]:"
                    + "\(placeholder):\(zshAction(kind))'"
            case .optional(let placeholder, let kind):
                "'\(name)=-[\(text)]::\(placeholder):\(zshAction(kind))'"
            }
        }
    }

    private static func zshArgument(_ argument: ArgumentDefinition, at place: Int) -> String {
        let position = argument.arity.repeats ? "*" : "\(place)"
        return "'\(position):\(argument.name):\(zshAction(argument.kind))'"
    }

    private static func zshAction(_ kind: ValueKind) -> String {
        switch Candidates(kind) {
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .services: "_\(program)_services"
        case .files: "_files"
        case .none: " "
        }
    }

    private static func zshText(_ text: String) -> String {
        text.replacing("'", with: "").replacing("[", with: "(").replacing("]", with: ")")
            .replacing(":", with: "\\:")
    }
}
