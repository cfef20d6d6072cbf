/// Why a command line cannot be understood. Each case is one sentence that names what was typed.
enum UsageError: Error, Hashable, Sendable {
    case noVerb
    case unknownVerb(String)
    case unknownOption(String, of: Verb?)
    case missingValue(OptionName, placeholder: String, of: Verb?)
    case unexpectedValue(OptionName, of: Verb?)
    case badOptionValue(OptionName, String, expected: String, of: Verb?)
    case badArgument(String, name: String, expected: String, of: Verb)
    case missingArgument(String, of: Verb)
    case unexpectedArgument(String, of: Verb)
    /// An option for the whole project came with the name of a service.
    case onlyForAll(OptionName, String, of: Verb)
    /// Two options that say different things.
    case exclusive(OptionName, OptionName, of: Verb)
    /// Nothing was said at all.
    case nothingToSay(Verb)

    /// The verb whose help answers the question.
    var verb: Verb? {
        switch self {
        case .noVerb, .unknownVerb: nil
        case .unknownOption(_, let verb), .missingValue(_, _, let verb),
            .unexpectedValue(_, let verb), .badOptionValue(_, _, _, let verb):
            verb
        case .badArgument(_, _, _, let verb), .missingArgument(_, let verb),
            .unexpectedArgument(_, let verb), .onlyForAll(_, _, let verb), .nothingToSay(let verb),
            .exclusive(_, _, let verb):
            verb
        }
    }

    /// What is wrong, in one line.
    var message: String {
        switch self {
        case .noVerb:
            "say what to do, for example: \(CommandTable.program) up"
        case .unknownVerb(let text):
            "unknown verb \(quoted(text))" + didYouMean(suggestion)
        case .unknownOption(let text, _):
            "unknown option \(quoted(text))" + didYouMean(suggestion)
        case .missingValue(let option, let placeholder, _):
            "\(option.spelled) needs a value: \(option.spelled) <\(placeholder)>"
        case .unexpectedValue(let option, _):
            "\(option.spelled) takes no value"
        case .badOptionValue(let option, let text, let expected, _):
            "\(option.spelled) cannot be \(quoted(text)): expected \(expected)"
                + didYouMean(suggestion)
        case .badArgument(let text, let name, let expected, _):
            "<\(name)> cannot be \(quoted(text)): expected \(expected)" + didYouMean(suggestion)
        case .missingArgument(let name, let verb):
            "\(verb.rawValue) needs <\(name)>"
        case .unexpectedArgument(let text, let verb):
            "\(verb.rawValue) takes no further argument: \(quoted(text))"
        case .onlyForAll(let option, let name, _):
            "\(option.spelled) is for the whole project: leave out \(quoted(name))"
        case .exclusive(let one, let other, _):
            "\(one.spelled) and \(other.spelled) exclude each other"
        case .nothingToSay(let verb):
            "\(verb.rawValue) needs something to say, for example --ready"
        }
    }

    /// What was probably meant.
    var suggestion: String? {
        switch self {
        case .unknownVerb(let text):
            nearest(to: text, among: Verb.allCases.map(\.rawValue))
        case .unknownOption(let text, let verb):
            suggestedOption(text, verb)
        case .badOptionValue(let option, let text, _, let verb):
            nearest(to: text, among: choices(of: option, verb))
                ?? incidentForm(of: option, verb)?.nearest(to: text)
        case .badArgument(let text, let name, _, let verb):
            nearest(to: text, among: choices(ofArgument: name, verb))
        case .noVerb, .missingValue, .unexpectedValue, .missingArgument, .unexpectedArgument,
            .onlyForAll, .exclusive, .nothingToSay:
            nil
        }
    }

    /// Where the help is.
    var seeAlso: String {
        guard let verb else { return "See '\(CommandTable.program) --help'." }
        return "See '\(CommandTable.program) \(verb.rawValue) --help'."
    }

    private func suggestedOption(_ text: String, _ verb: Verb?) -> String? {
        let known = CommandTable.options(of: verb).filter { !$0.isHidden }.map(\.name.spelled)
        // `-detach` is one dash short of a long option; one letter is near to nothing.
        let wanted = text.hasPrefix("--") ? text : "-" + text
        return wanted.count > 3 ? nearest(to: wanted, among: known) : nil
    }

    private func choices(of option: OptionName, _ verb: Verb?) -> [String] {
        let found = CommandTable.options(of: verb).first { $0.name == option }
        switch found?.value {
        case .required(_, .choice(let words)), .optional(_, .choice(let words)): return words
        case .required, .optional, .some(.none), nil: return []
        }
    }

    private func incidentForm(of option: OptionName, _ verb: Verb?) -> IncidentForm? {
        let found = CommandTable.options(of: verb).first { $0.name == option }
        guard case .required(_, .incident(let form)) = found?.value else { return nil }
        return form
    }

    private func choices(ofArgument name: String, _ verb: Verb) -> [String] {
        let found = CommandTable.command(verb).arguments.first { $0.name == name }
        guard case .choice(let words) = found?.kind else { return [] }
        return words
    }
}

/// `text` in quotes, safe to show.
func quoted(_ text: String) -> String { "\"" + safeForTerminal(text) + "\"" }

private func didYouMean(_ suggestion: String?) -> String {
    suggestion.map { " (did you mean \(quoted($0))?)" } ?? ""
}
