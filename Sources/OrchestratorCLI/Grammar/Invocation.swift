/// A command line that was understood.
enum ParsedLine: Hashable, Sendable {
    /// Do this.
    case run(Invocation)
    /// Show help for the program (`nil`) or a verb.
    case help(Verb?, GlobalOptions)
    /// Show the version: `--version`.
    case version(GlobalOptions)
}

/// A verb with its values, each of the kind its definition says.
struct Invocation: Hashable, Sendable {
    var verb: Verb
    var arguments: [String] = []
    var options: [OptionName: OptionValue] = [:]
    var globals = GlobalOptions()

    /// Whether the option was given, with or without a value.
    func has(_ option: OptionName) -> Bool { options[option] != nil }

    /// The text given to the option.
    func text(_ option: OptionName) -> String? {
        switch options[option] {
        case .text(let text): text
        case .flag, .duration, .count, nil: nil
        }
    }

    /// The duration given to the option.
    func duration(_ option: OptionName) -> Duration? {
        switch options[option] {
        case .duration(let duration): duration
        case .flag, .text, .count, nil: nil
        }
    }

    /// The number given to the option.
    func count(_ option: OptionName) -> Int? {
        switch options[option] {
        case .count(let count): count
        case .flag, .text, .duration, nil: nil
        }
    }
}

/// What an option was given.
enum OptionValue: Hashable, Sendable {
    case flag
    case text(String)
    case duration(Duration)
    case count(Int)
}

/// What every verb understands.
struct GlobalOptions: Hashable, Sendable {
    /// The config as named, if it was.
    var file: String?
    /// Whether the answer is JSON.
    var json = false
    /// When to colour.
    var color = ColorChoice.auto

    /// When to colour.
    enum ColorChoice: String, Hashable, Sendable { case auto, always, never }
}
