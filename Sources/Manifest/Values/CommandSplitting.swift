/// Splits the text of a command into arguments as a shell would, without being one.
///
/// Blanks separate; single quotes keep everything; double quotes keep everything but `\"`, `\\`,
/// `\$`, `` \` `` and `${…}`; a backslash outside quotes keeps the next character, and one at the
/// end of a line joins it with the next. What a shell would act upon is refused when it is not
/// quoted.
struct CommandSplitter {
    private let bytes: [UInt8]
    private let interpolator: Interpolator
    private var position = 0
    private var arguments: [Template] = []
    /// The argument under way; `nil` between arguments.
    private var current: TemplateParts?

    init(_ text: String, _ interpolator: Interpolator) {
        bytes = Array(text.utf8)
        self.interpolator = interpolator
    }

    /// The arguments; at least one.
    mutating func split() throws(ValueError) -> [Template] {
        while let byte = next {
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"): finishArgument()
            case UInt8(ascii: "'"): try singleQuoted()
            case UInt8(ascii: "\""): try doubleQuoted()
            case UInt8(ascii: "\\"): try escaped()
            case UInt8(ascii: "$"): try reference()
            default: try plain(byte)
            }
        }
        finishArgument()
        guard let first = arguments.first else { throw ValueError("the command is empty") }
        if let text = first.literalText, let equals = text.firstIndex(of: "="),
            isVariableName(text[..<equals])
        {
            throw ValueError(
                "\(quoted(text)) would set a variable in a shell",
                suggestion: "use environment, or say shell: true")
        }
        return arguments
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func finishArgument() {
        position += 1
        guard let finished = current else { return }
        arguments.append(finished.template)
        current = nil
    }

    private mutating func append(_ byte: UInt8) {
        if current == nil { current = TemplateParts() }
        current?.append(byte)
    }

    private mutating func plain(_ byte: UInt8) throws(ValueError) {
        if byte == UInt8(ascii: "\n") {
            // A block of YAML text ends in a line break, which says nothing.
            let rest = bytes[position...].allSatisfy { $0 == byte || $0 == UInt8(ascii: " ") }
            guard rest || (arguments.isEmpty && current == nil) else {
                throw Self.shellOnly("an unquoted line break")
            }
            return finishArgument()
        }
        guard !Self.special.contains(byte) else {
            throw Self.shellOnly("an unquoted \(Character(Unicode.Scalar(byte)))")
        }
        append(byte)
        position += 1
    }

    private mutating func reference() throws(ValueError) {
        guard position + 1 < bytes.count, bytes[position + 1] == UInt8(ascii: "{") else {
            throw Self.shellOnly("an unquoted $")
        }
        var parts = current ?? TemplateParts()
        try interpolator.take(bytes, &position, into: &parts)
        current = parts
    }

    private mutating func singleQuoted() throws(ValueError) {
        if current == nil { current = TemplateParts() }
        position += 1
        while let byte = next {
            position += 1
            if byte == UInt8(ascii: "'") { return }
            append(byte)
        }
        throw ValueError("a ' is never closed")
    }

    private mutating func doubleQuoted() throws(ValueError) {
        var parts = current ?? TemplateParts()
        position += 1
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                current = parts
                return
            case UInt8(ascii: "$"): try interpolator.take(bytes, &position, into: &parts)
            case UInt8(ascii: "\\"): escapedInQuotes(&parts)
            default:
                parts.append(byte)
                position += 1
            }
        }
        throw ValueError("a \" is never closed")
    }

    private mutating func escapedInQuotes(_ parts: inout TemplateParts) {
        let backslash = bytes[position]
        let following = position + 1 < bytes.count ? bytes[position + 1] : backslash
        guard Self.escapableInQuotes.contains(following) else {
            parts.append(backslash)
            position += 1
            return
        }
        if following != UInt8(ascii: "\n") { parts.append(following) }
        position += 2
    }

    private mutating func escaped() throws(ValueError) {
        guard position + 1 < bytes.count else {
            throw ValueError("a backslash ends the command; it would keep the next character")
        }
        let kept = bytes[position + 1]
        position += 2
        if kept != UInt8(ascii: "\n") { append(kept) }
    }

    private static let special = Set("|&;<>()`*~".utf8)
    private static let escapableInQuotes = Set("\"\\$`\n".utf8)

    private static func shellOnly(_ what: String) -> ValueError {
        ValueError(
            "\(what) needs a shell, and the command is not run by one",
            suggestion: "quote it, or say shell: true")
    }
}
