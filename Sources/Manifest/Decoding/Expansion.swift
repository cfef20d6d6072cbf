/// What `extends`, `defaults` and the project's `environment` come to once each service has its
/// own: a small file can say that thousands of services share thousands of variables.
struct Expansion {
    /// Values and keys.
    var values = 0
    /// Bytes of text.
    var bytes = 0

    /// The most of one config. Ten thousand services with a hundred values each fit.
    static let most = Expansion(values: 1_000_000, bytes: 64 << 20)

    /// Whether it is more than a config may come to.
    var isTooMuch: Bool { values > Self.most.values || bytes > Self.most.bytes }

    init(values: Int = 0, bytes: Int = 0) {
        self.values = values
        self.bytes = bytes
    }

    /// What a value comes to. Recurses as deep as the config.
    init(_ checked: Checked) {
        switch checked.value {
        case .text(let text), .commandText(let text): self.init(values: 1, bytes: text.utf8.count)
        case .template(let template):
            self.init(values: template.pieces.count)
            for case .literal(let text) in template.pieces { bytes += text.utf8.count }
        case .flag, .integer, .number, .duration, .size, .signal, .limit: self.init(values: 1)
        case .list(let items):
            self.init(values: 1)
            for item in items { self += Expansion(item) }
        case .map(let entries):
            self.init(values: 1)
            for entry in entries {
                self += Expansion(values: 1, bytes: entry.key.utf8.count)
                self += Expansion(entry.value)
            }
        case .object(let object): self.init(object)
        }
    }

    /// What a map with keys of ours comes to.
    init(_ object: CheckedObject) {
        self.init(values: 1 + object.given.count)
        for value in object.values.values { self += Expansion(value) }
    }

    static func += (left: inout Expansion, right: Expansion) {
        left.values += right.values
        left.bytes += right.bytes
    }
}
