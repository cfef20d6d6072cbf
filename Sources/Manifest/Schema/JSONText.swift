/// JSON to be written, keys in the order they were given.
indirect enum JSONText {
    case string(String)
    /// A number or a word, as it is written.
    case word(String)
    case array([JSONText])
    case object([(key: String, value: JSONText)])

    /// The text, indented by two blanks a level.
    func written(indent: String = "") -> String {
        let inner = indent + "  "
        switch self {
        case .string(let text): return Self.literal(text)
        case .word(let word): return word
        case .array(let items):
            guard !items.isEmpty else { return "[]" }
            let lines = items.map { inner + $0.written(indent: inner) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(indent)]"
        case .object(let members):
            guard !members.isEmpty else { return "{}" }
            let lines = members.map {
                "\(inner)\(Self.literal($0.key)): \($0.value.written(indent: inner))"
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
        }
    }

    private static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": literal += "\\\""
            case "\\": literal += "\\\\"
            case "\n": literal += "\\n"
            case "\t": literal += "\\t"
            case "\u{00}"..<"\u{20}":
                let digits = String(scalar.value, radix: 16)
                literal += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }
}
