/// Every verb of the command line, in the order of the help.
enum Verb: String, CaseIterable, Hashable, Sendable {
    case up, down, status, logs
    case start, stop, restart, signal, reload, plan
    case check, graph, simulate, config, schema
    case events, why, wait, notify
    case version, completion, help
}

/// Every option of any verb; the raw value is its long name.
enum OptionName: String, CaseIterable, Hashable, Sendable {
    case file, json, color, help, version
    case detach, wait, now
    case detachedChild = "detached-child"
    case follow, lines, since, timestamps
    case to, service, format
    case condition = "for"
    case timeout
    case ready, status, stopping, reloading, pid, watchdog, extend
    case services, reference
    case kill, exit, hang, escape, unkillable, lie, flood, sleep, pause, force
    case start, stop, down, restart
    case slowStart = "slow-start"
    case slowStop = "slow-stop"
    case ignoreTerm = "ignore-term"
    case failLaunch = "fail-launch"
    case notReady = "not-ready"
    case until, seed, seeds, from

    /// The option as a person types it.
    var spelled: String { "--\(rawValue)" }
}

/// What a value on the command line must look like.
enum ValueKind: Hashable, Sendable {
    /// Any text.
    case text
    /// A file name, for completion.
    case file
    /// The name of a service, for completion.
    case service
    /// A duration with its unit: `10s`, `1m30s`, `250ms`.
    case duration
    /// A moment in the past: an age or a date.
    case moment
    /// A whole number, from 0.
    case count
    /// A whole number from 1: a process id.
    case pid
    /// A signal by name or number.
    case signal
    /// One of these words.
    case choice([String])
    /// `KEY=VALUE`.
    case assignment
    /// Something that happens in a simulation: `NAME@TIME`, `NAME=VALUE@TIME`.
    case incident(IncidentForm)
}

/// One option of a verb, or of all.
struct OptionDefinition: Hashable, Sendable {
    /// Which.
    var name: OptionName
    /// Its one-letter form.
    var short: Character?
    /// Whether it takes a value.
    var value: Value
    /// One or two sentences.
    var help: String
    /// Whether it may be given more than once, each time adding to what was given.
    var repeats: Bool {
        guard case .required(_, .incident) = value else { return false }
        return true
    }
    /// Hidden options are for the program itself: parsed, never shown or suggested.
    var isHidden: Bool

    /// Whether an option takes a value, and its placeholder.
    enum Value: Hashable, Sendable {
        /// It stands alone.
        case none
        /// `--name VALUE` or `--name=VALUE`.
        case required(String, ValueKind)
        /// `--name` or `--name=VALUE`, never `--name VALUE`: the next word is not its.
        case optional(String, ValueKind)
    }

    init(
        _ name: OptionName, short: Character? = nil, value: Value = .none, hidden: Bool = false,
        _ help: String
    ) {
        self.name = name
        self.short = short
        self.value = value
        self.help = help
        isHidden = hidden
    }
}

/// One positional argument of a verb. Only the last may repeat.
struct ArgumentDefinition: Hashable, Sendable {
    /// The placeholder, in lower case.
    var name: String
    /// What it must look like.
    var kind: ValueKind
    /// How often it is given.
    var arity: Arity
    /// One or two sentences.
    var help: String

    /// How often an argument is given.
    enum Arity: Hashable, Sendable {
        case one, optional, some, any

        /// At least one value is required.
        var isRequired: Bool { self == .one || self == .some }
        /// More than one value is taken.
        var repeats: Bool { self == .some || self == .any }
    }

    init(_ name: String, _ kind: ValueKind, _ arity: Arity, _ help: String) {
        self.name = name
        self.kind = kind
        self.arity = arity
        self.help = help
    }
}

/// One verb with everything that is known of it: parsing, help, completion and the reference are
/// made from this and nothing else.
struct CommandDefinition: Hashable, Sendable {
    /// Which.
    var verb: Verb
    /// One line.
    var abstract: String
    /// Paragraphs.
    var discussion: [String]
    /// Its positional arguments, in order.
    var arguments: [ArgumentDefinition]
    /// Its own options; the global ones are understood by every verb.
    var options: [OptionDefinition]
    /// The codes it can exit with beyond 0, 64 and 70, which every verb can.
    var exitCodes: [ExitCode]
    /// What a person would type.
    var examples: [String]

    init(
        _ verb: Verb, _ abstract: String, discussion: [String] = [],
        arguments: [ArgumentDefinition] = [], options: [OptionDefinition] = []
    ) {
        self.verb = verb
        self.abstract = abstract
        self.discussion = discussion
        self.arguments = arguments
        self.options = options
        exitCodes = []
        examples = []
    }

    /// The same verb with the codes it can exit with.
    func exits(_ codes: ExitCode...) -> CommandDefinition {
        var copy = self
        copy.exitCodes = codes
        return copy
    }

    /// The same verb with examples.
    func example(_ lines: String...) -> CommandDefinition {
        var copy = self
        copy.examples = lines
        return copy
    }

    /// Every code of the verb, in the order of the table.
    var allExitCodes: [ExitCode] {
        ExitCode.table.filter {
            $0 == .done || $0 == .usage || $0 == .defect || exitCodes.contains($0)
        }
    }
}
