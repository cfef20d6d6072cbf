/// A piece of a config as its text says it, before any meaning: the schema decides types.
struct Node {
    /// Where it begins; that of its anchor when an alias put it here.
    var place: Place
    /// What it is.
    var content: Content
    /// How many nodes it is, itself and keys included.
    var size: Int
    /// How many bytes its text has, keys included.
    var bytes: Int
    /// How many levels it is deep: 1 for a scalar.
    var height: Int

    /// What a node is.
    enum Content {
        /// Text; of a JSON number or boolean, as it is written there.
        case scalar(String)
        /// JSON's null. YAML has none here: `~` and `null` are text, nothing at all is empty text.
        case null
        /// Something that was reported already: nobody has more to say about it.
        case reported
        case sequence([Node])
        case mapping([Entry])
    }

    /// A key and its value. A mapping has no key twice.
    struct Entry {
        var key: String
        var keyPlace: Place
        var value: Node
    }

    init(_ content: Content, at place: Place) {
        self.place = place
        self.content = content
        switch content {
        case .scalar(let text):
            size = 1
            bytes = text.utf8.count
            height = 1
        case .null, .reported:
            size = 1
            bytes = 0
            height = 1
        case .sequence(let items):
            size = 1 + items.reduce(0) { $0 + $1.size }
            bytes = items.reduce(0) { $0 + $1.bytes }
            height = 1 + (items.map(\.height).max() ?? 0)
        case .mapping(let entries):
            size = 1 + entries.reduce(0) { $0 + 1 + $1.value.size }
            bytes = entries.reduce(0) { $0 + $1.key.utf8.count + $1.value.bytes }
            height = 1 + (entries.map(\.value.height).max() ?? 0)
        }
    }

    /// What messages call it.
    var kind: String {
        switch content {
        case .scalar(let text): text.isEmpty ? "nothing" : quoted(text)
        case .null: "null"
        case .reported: "something odd"
        case .sequence: "a list"
        case .mapping: "a map"
        }
    }
}

/// What a parsed text amounts to.
struct ParsedText {
    /// The whole, if the syntax allowed to find it.
    var root: Node?
    /// What is wrong with it.
    var faults: [TextFault]
}

/// How much of a text becomes nodes. Fixed: no config comes near, and what does is a mistake or an
/// attack.
enum TextLimits {
    /// The most bytes of a config.
    static let bytes = 16 << 20
    /// The most nodes, keys and expanded aliases counted.
    static let nodes = 100_000
    /// The most levels.
    static let depth = 64
    /// The most bytes of text that aliases and `<<` may repeat, and that `${VAR}` may bring in.
    static let repeatedBytes = 16 << 20
    /// The most bytes of a key: the parser of YAML takes no longer ones without `?`.
    static let keyBytes = 1_024
    /// The most `%TAG` lines: libyaml compares each with all before it.
    static let tagLines = 100
}
