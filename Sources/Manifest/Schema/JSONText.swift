import Stoic

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
        case .string(let text): return EventJSON.string(text)
        case .word(let word): return word
        case .array(let items):
            guard !items.isEmpty else { return "[]" }
            let lines = items.map { inner + $0.written(indent: inner) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(indent)]"
        case .object(let members):
            guard !members.isEmpty else { return "{}" }
            let lines = members.map {
                "\(inner)\(EventJSON.string($0.key)): \($0.value.written(indent: inner))"
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
        }
    }
}
