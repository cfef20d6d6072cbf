/// Why a text is not the value it should be. The caller knows the place and adds it.
public struct ValueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problem, in a sentence without its full stop.
    public var message: String
    /// What would repair it, in words.
    public var suggestion: String?

    init(_ message: String, suggestion: String? = nil) {
        self.message = message
        self.suggestion = suggestion
    }

    /// The problem, and what would repair it in brackets.
    public var description: String {
        guard let suggestion else { return message }
        return "\(message) (\(suggestion))"
    }
}

/// Text of the user's as a message shows it: in double quotes, control characters escaped, cut
/// after 60 characters.
func quoted(_ text: some StringProtocol) -> String {
    var shown = "\""
    for (count, scalar) in text.unicodeScalars.enumerated() {
        if count == 60 { return shown + "…\"" }
        switch scalar {
        case "\"": shown += "\\\""
        case "\n": shown += "\\n"
        case "\r": shown += "\\r"
        case "\t": shown += "\\t"
        case "\u{00}"..<"\u{20}", "\u{7F}"..<"\u{A0}":
            shown += "\\u{\(String(scalar.value, radix: 16))}"
        default: shown.unicodeScalars.append(scalar)
        }
    }
    return shown + "\""
}
