internal import Simulation

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
        case .flag, .duration, .count, .incidents, nil: nil
        }
    }

    /// The duration given to the option.
    func duration(_ option: OptionName) -> Duration? {
        switch options[option] {
        case .duration(let duration): duration
        case .flag, .text, .count, .incidents, nil: nil
        }
    }

    /// The number given to the option.
    func count(_ option: OptionName) -> Int? {
        switch options[option] {
        case .count(let count): count
        case .flag, .text, .duration, .incidents, nil: nil
        }
    }

    /// What was said to happen by options of any name, in no order.
    var incidents: [Incident] {
        options.values.flatMap { value -> [Incident] in
            switch value {
            case .incidents(let incidents): incidents
            case .flag, .text, .duration, .count: []
            }
        }
    }
}

/// What an option was given.
enum OptionValue: Hashable, Sendable {
    case flag
    case text(String)
    case duration(Duration)
    case count(Int)
    case incidents([Incident])
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
