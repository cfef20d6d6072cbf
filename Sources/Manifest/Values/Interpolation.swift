import Stoic

/// What `$` means in a text: `${VAR}`, `${VAR:-default}` and `${VAR:?message}` are variables of the
/// caller, `${service.key}` is a value of a need, `$$` is one `$`, and any other `$` is itself.
struct Interpolator {
    /// The caller's variables.
    let environment: [String: String]
    /// What they have brought in so far.
    private let used = Used()

    /// The caller's variables.
    init(environment: [String: String]) { self.environment = environment }

    /// Bytes that variables brought in, over all texts of one load: each use is small, and a file
    /// has room for millions.
    private final class Used {
        var bytes = 0
    }

    /// The parts of `text`. What a variable holds is literal: it is never looked at again.
    func template(_ text: String) throws(ValueError) -> Template {
        guard text.utf8.contains(UInt8(ascii: "$")) else { return Template(literal: text) }
        let bytes = Array(text.utf8)
        var parts = TemplateParts()
        var position = 0
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "$") else {
                parts.append(bytes[position])
                position += 1
                continue
            }
            try take(bytes, &position, into: &parts)
        }
        return parts.template
    }

    /// Takes what begins with the `$` at `position`.
    func take(
        _ bytes: [UInt8], _ position: inout Int, into parts: inout TemplateParts
    ) throws(ValueError) {
        let next = position + 1 < bytes.count ? bytes[position + 1] : nil
        switch next {
        case UInt8(ascii: "$"):
            parts.append(UInt8(ascii: "$"))
            position += 2
        case UInt8(ascii: "{"): parts.append(try reference(bytes, &position))
        default:
            parts.append(UInt8(ascii: "$"))
            position += 1
        }
    }

    private func reference(
        _ bytes: [UInt8], _ position: inout Int
    ) throws(ValueError) -> Template.Piece {
        let start = position + 2
        guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "}")) else {
            throw ValueError(
                "${ has no } after it", suggestion: "write $${ for the characters themselves")
        }
        position = end + 1
        let body = String(decoding: bytes[start..<end], as: UTF8.self)
        let afterDollars = body.split(separator: "$", omittingEmptySubsequences: false).dropFirst()
        guard !afterDollars.contains(where: { $0.hasPrefix("{") }) else {
            throw ValueError("a ${…} inside a ${…} means nothing here")
        }
        let head = String(body.prefix { $0 != ":" })
        let tail = head.count < body.count ? body.dropFirst(head.count + 1) : nil
        if isVariableName(head) { return .literal(try counted(try variable(head, tail, body))) }
        guard tail == nil, let dot = head.lastIndex(of: ".") else { throw malformed(body) }
        let service = String(head[..<dot])
        let key = String(head[head.index(after: dot)...])
        guard isServiceName(service), isVariableName(key) else { throw malformed(body) }
        return .reference(ServiceName(service), key: key)
    }

    private func counted(_ value: String) throws(ValueError) -> String {
        used.bytes += value.utf8.count
        guard used.bytes <= TextLimits.repeatedBytes else {
            let most = sizeText(UInt64(TextLimits.repeatedBytes))
            throw ValueError("the variables of this config come to more than \(most) of text")
        }
        return value
    }

    private func variable(
        _ name: String, _ tail: Substring?, _ body: String
    ) throws(ValueError) -> String {
        let value = environment[name]
        guard let tail else {
            if let value { return value }
            let shown = shortened(name)
            throw ValueError(
                "the variable \(shown) is not set",
                suggestion: "set it, or write ${\(shown):-default}")
        }
        guard let operation = tail.first, operation == "-" || operation == "?" else {
            throw malformed(body)
        }
        if let value, !value.isEmpty { return value }
        guard operation == "?" else { return String(tail.dropFirst()) }
        let state = value == nil ? "is not set" : "is empty"
        let message = tail.dropFirst()
        throw ValueError(
            "the variable \(shortened(name)) \(state)"
                + (message.isEmpty ? "" : ": \(shortened(message))"))
    }

    private func malformed(_ body: String) -> ValueError {
        ValueError(
            "${\(shortened(body))} means nothing here",
            suggestion: "write ${VAR}, ${VAR:-default}, ${VAR:?message} or ${service.key}, "
                + "or $${ for the characters themselves")
    }
}

/// Text of the user's in a sentence, cut after 200 characters.
private func shortened(_ text: some StringProtocol) -> String {
    text.unicodeScalars.count > 200 ? "\(text.prefix(200))…" : String(text)
}

/// Parts of a template as they come, neighbouring text joined.
struct TemplateParts {
    private var pieces: [Template.Piece] = []
    private var bytes: [UInt8] = []

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    mutating func append(_ piece: Template.Piece) {
        switch piece {
        case .literal(let text): bytes.append(contentsOf: text.utf8)
        case .reference:
            flush()
            pieces.append(piece)
        }
    }

    private mutating func flush() {
        guard !bytes.isEmpty else { return }
        pieces.append(.literal(String(decoding: bytes, as: UTF8.self)))
        bytes = []
    }

    /// The whole; of nothing, one empty text.
    var template: Template {
        var copy = self
        copy.flush()
        return copy.pieces.isEmpty ? Template(literal: "") : Template(copy.pieces)
    }
}

extension Template {
    /// The text, if there is no reference in it.
    var literalText: String? {
        resolved { _, _ in nil }
    }

    /// The references in it, in order.
    var references: [(service: ServiceName, key: String)] {
        pieces.compactMap { piece in
            switch piece {
            case .literal: nil
            case .reference(let service, let key): (service, key)
            }
        }
    }
}

/// Whether a service may have this name: letters, digits, `-`, `_` and `.`, a letter or a digit
/// first, at most 64. A name becomes the name of a log file, so it cannot be a path.
package func isServiceName(_ name: String) -> Bool {
    guard (1...64).contains(name.utf8.count), name.first != "-", name.first != ".",
        name.first != "_"
    else { return false }
    return name.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"),
            UInt8(ascii: "."):
            true
        default: false
        }
    }
}
