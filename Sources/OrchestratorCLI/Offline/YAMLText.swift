internal import Orchestrator

/// A JSON value as YAML in block style, so that people can read it and the loader, which decides
/// types by its schema, can read it again.
enum YAMLText {
    /// The value as a document, with its last newline.
    static func text(_ value: JSONValue) -> String {
        var lines: [String] = []
        append(value, indent: 0, prefix: "", to: &lines)
        return lines.map { $0 + "\n" }.joined()
    }

    /// Adds a value; `prefix` is what its first line begins with: a key, or the dash of a list.
    private static func append(
        _ value: JSONValue, indent: Int, prefix: String, to lines: inout [String]
    ) {
        let space = String(repeating: " ", count: indent)
        switch value {
        case .object(let object) where !object.members.isEmpty:
            if !prefix.isEmpty { lines.append(space + prefix) }
            let inner = prefix.isEmpty ? indent : indent + 2
            for member in object.members {
                append(member.value, indent: inner, prefix: scalar(member.key) + ":", to: &lines)
            }
        case .array(let elements) where elements.contains(where: isNested):
            if !prefix.isEmpty { lines.append(space + prefix) }
            let inner = prefix.isEmpty ? indent : indent + 2
            for element in elements {
                append(element, indent: inner, prefix: "-", to: &lines)
            }
        case .object, .array, .null, .bool, .integer, .number, .string:
            lines.append(space + (prefix.isEmpty ? "" : prefix + " ") + inline(value))
        }
    }

    private static func isNested(_ value: JSONValue) -> Bool {
        switch value {
        case .object, .array: true
        case .null, .bool, .integer, .number, .string: false
        }
    }

    private static func inline(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): scalar(text)
        case .array(let elements): "[" + elements.map(inline).joined(separator: ", ") + "]"
        case .object: "{}"
        case .null, .bool, .integer, .number: value.description
        }
    }

    /// Plain where every reader of YAML takes it for the same text, else in double quotes, whose
    /// escapes are those of JSON.
    private static func scalar(_ text: String) -> String {
        isPlain(text) ? text : JSONValue.string(text).description
    }

    private static let ambiguous: Set<String> = [
        "y", "n", "yes", "no", "true", "false", "on", "off", "null", "nan", "inf",
    ]

    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.utf8.first, let last = text.utf8.last,
            !ambiguous.contains(text.lowercased()),
            text.utf8.allSatisfy({ isLetter($0) || isDigit($0) || "_./@+-".utf8.contains($0) })
        else { return false }
        // A duration begins with a digit and ends with its unit; a number does not.
        let isDuration =
            isDigit(first) && "smh".utf8.contains(last)
            && text.utf8.allSatisfy { isLetter($0) || isDigit($0) }
        return isLetter(first) || first == UInt8(ascii: "/") || isDuration
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
