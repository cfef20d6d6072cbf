/// What the value of a key may be. The schema decides types, never the text: `NO` and `010` are
/// text where text is wanted.
indirect enum ValueType: Sendable {
    /// Text by a rule. Numbers and booleans of a JSON file count as they are written.
    case text(TextRule)
    /// `true` or `false`.
    case flag
    /// A whole number in a range.
    case integer(ClosedRange<Int64>)
    /// A number in a range.
    case number(ClosedRange<Double>)
    /// A duration; whether `0s` is one.
    case duration(zeroIsLegal: Bool)
    /// A size in a range of bytes.
    case size(ClosedRange<UInt64>)
    /// A signal by name or number, except these.
    case signal(refused: [Int32])
    /// File mode bits in octal.
    case octal
    /// A number, a size or `unlimited`.
    case limit
    /// One of these words. What others say for them is answered with the right word.
    case choice([String], foreign: [String: String] = [:])
    /// A list of arguments, or text that is split into arguments.
    case command
    /// A list.
    case list(of: ValueType)
    /// A map whose keys the user names.
    case map(MapKeys, of: ValueType)
    /// A map whose keys a table names.
    case object(TableName)
    /// The first of these that fits the shape of the value: text, list or map.
    case either([ValueType])
}

/// How text is read.
struct TextRule: Sendable {
    /// What `$` means in it.
    var interpolation: Interpolation = .none
    /// Whether it may be empty.
    var mayBeEmpty = false

    /// What `$` means in a text.
    enum Interpolation: Sendable {
        /// Nothing.
        case none
        /// `${VAR}` is a variable of the caller.
        case variables
        /// `${VAR}` is a variable of the caller, `${service.key}` a value of a need.
        case template
    }

    static let plain = TextRule()
    static let variables = TextRule(interpolation: .variables)
    static let template = TextRule(interpolation: .template, mayBeEmpty: true)
}

/// What the keys of a map name.
enum MapKeys: Sendable {
    case services
    case variables
    case provided
    case limits
}

/// The tables of keys there are.
enum TableName: String, Sendable, CaseIterable {
    case project, service, need, ready, started, exec, live, rung, restart, backoff, limit
    case resourceLimit, provided, environmentFile, output, simulate
}

/// A row of a table: a key, what its value may be, and what it means.
struct SchemaKey: Sendable {
    let name: String
    let type: ValueType
    /// For people, in sentences; the source of the reference and of the editor's help.
    let meaning: String
    /// What its absence means, as the config would write it or in words.
    let absent: String
    /// Which types of service it is for.
    let fits: Fit
    /// Whether the map is refused without it.
    let isRequired: Bool
    /// The first version that knows it.
    let since: String

    /// Which types of service a key is for.
    enum Fit: Sendable { case every, service, oneshot }

    init(
        _ name: String, _ type: ValueType, absent: String, fits: Fit = .every,
        _ meaning: String
    ) {
        self.name = name
        self.type = type
        self.meaning = meaning
        self.absent = absent
        self.fits = fits
        isRequired = absent == "required"
        since = "0.1"
    }
}

/// The keys of one kind of map.
struct SchemaTable: Sendable {
    let name: TableName
    /// What a map of this kind is, for people.
    let meaning: String
    let keys: [SchemaKey]
    /// Keys that other tools use, and the words to use here.
    let foreign: [String: String]
    private let index: [String: Int]

    init(_ name: TableName, _ meaning: String, foreign: [String: String] = [:], _ keys: [SchemaKey])
    {
        self.name = name
        self.meaning = meaning
        self.keys = keys
        self.foreign = foreign
        index = Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1.name, $0) })
    }

    /// The row of a key.
    subscript(_ key: String) -> SchemaKey? { index[key].map { keys[$0] } }

    /// The table of a name.
    static func named(_ name: TableName) -> SchemaTable {
        switch name {
        case .project: project
        case .service: service
        case .need: need
        case .ready: ready
        case .started: started
        case .exec: exec
        case .live: live
        case .rung: rung
        case .restart: restart
        case .backoff: backoff
        case .limit: limit
        case .resourceLimit: resourceLimit
        case .provided: provided
        case .environmentFile: environmentFile
        case .output: output
        case .simulate: simulate
        }
    }
}
