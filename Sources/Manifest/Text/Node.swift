/// A piece of a config as its text says it, before any meaning: the schema decides types.
struct Node {
    /// Where it begins; that of its anchor when an alias put it here.
    var place: Place
    /// What it is.
    var content: Content
    /// How many nodes it is, itself and keys included.
    var size: Int
    /// How many levels it is deep: 1 for a scalar.
    var height: Int

    /// What a node is.
    enum Content {
        /// Text; of a JSON number or boolean, as it is written there.
        case scalar(String)
        /// JSON's null. YAML has none here: `~` and `null` are text, nothing at all is empty text.
        case null
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
        case .scalar, .null:
            size = 1
            height = 1
        case .sequence(let items):
            size = 1 + items.reduce(0) { $0 + $1.size }
            height = 1 + (items.map(\.height).max() ?? 0)
        case .mapping(let entries):
            size = 1 + entries.reduce(0) { $0 + 1 + $1.value.size }
            height = 1 + (entries.map(\.value.height).max() ?? 0)
        }
    }

    /// What messages call it.
    var kind: String {
        switch content {
        case .scalar(let text): text.isEmpty ? "nothing" : quoted(text)
        case .null: "null"
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
}
