import CJSON

/// Reads JSON into the same nodes as YAML. jansson says whether it is JSON and what escapes mean;
/// the walk over text it accepted gives every node its place, keeps numbers as they are written,
/// and sees duplicate keys, whose first place jansson would not name.
func parseJSON(_ bytes: [UInt8]) -> ParsedText {
    var walk = JSONWalk(bytes)
    do throws(TextFault) {
        try checkCount(bytes)
        try checkJSON(bytes[...])
        try walk.value()
        return ParsedText(root: walk.builder.root, faults: walk.builder.faults)
    } catch {
        return ParsedText(root: nil, faults: walk.builder.faults + [error])
    }
}

/// Any value at the top, and NULs in strings: what comes after says more about both than jansson.
private let jsonFlags = size_t(JSON_DECODE_ANY | JSON_ALLOW_NUL)

/// jansson makes a tree of everything first, which takes a hundred times the text of `{},{},…`. So
/// what can begin a value is counted before: more than a config may have is not worth its tree.
private func checkCount(_ bytes: [UInt8]) throws(TextFault) {
    var count = 0
    var isInString = false
    var isEscaped = false
    for (offset, byte) in bytes.enumerated() {
        if isInString {
            isInString = isEscaped || byte != UInt8(ascii: "\"")
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            continue
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: ":"): count += 1
        default: break
        }
        guard count <= TextLimits.nodes else {
            throw TextFault(
                place(of: offset, in: bytes), "the file has more than \(TextLimits.nodes) values")
        }
    }
}

private func checkJSON(_ bytes: ArraySlice<UInt8>) throws(TextFault) {
    var error = json_error_t()
    // SAFETY: the bytes are read within the closure; the tree that comes back is ours, and given
    // back once.
    let tree = unsafe bytes.withUnsafeBytes { buffer in
        unsafe json_loadb(buffer.baseAddress, buffer.count, jsonFlags, &error)
    }
    guard let tree = unsafe tree else {
        let text = unsafe withUnsafeBytes(of: error.text) { buffer in
            unsafe String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self)
        }
        let place = Place(line: Int(error.line), column: max(1, Int(error.column)))
        throw TextFault(place, "cannot read JSON: \(text)")
    }
    unsafe json_decref(tree)
}

/// The text of a JSON string with escapes.
private func decodedString(_ literal: ArraySlice<UInt8>) -> String? {
    // SAFETY: the bytes are read within the closure; the text belongs to the tree, and is copied
    // before that is given back.
    let tree = unsafe literal.withUnsafeBytes { buffer in
        unsafe json_loadb(buffer.baseAddress, buffer.count, jsonFlags, nil)
    }
    guard let tree = unsafe tree else { return nil }
    defer { unsafe json_decref(tree) }
    guard let text = unsafe json_string_value(tree) else { return nil }
    let bytes = unsafe UnsafeRawBufferPointer(start: text, count: json_string_length(tree))
    return unsafe String(decoding: bytes, as: UTF8.self)
}

/// A walk over text that is known to be JSON.
private struct JSONWalk {
    var builder = TreeBuilder()
    private let bytes: [UInt8]
    private var position = 0
    private var place = Place(line: 1, column: 1)

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Takes the value that comes next. Recurses at most as deep as the builder allows.
    mutating func value() throws(TextFault) {
        skipBlanks()
        let start = place
        switch next {
        case UInt8(ascii: "{"):
            try builder.startMapping(at: start)
            try members(until: UInt8(ascii: "}"), areNamed: true)
        case UInt8(ascii: "["):
            try builder.startSequence(at: start)
            try members(until: UInt8(ascii: "]"), areNamed: false)
        case UInt8(ascii: "\""): try string()
        default: try word()
        }
    }

    private mutating func members(until end: UInt8, areNamed: Bool) throws(TextFault) {
        advance()
        skipBlanks()
        while let byte = next, byte != end {
            if byte == UInt8(ascii: ",") { advance() }
            if areNamed {
                skipBlanks()
                try string()
                skipBlanks()
                advance()  // over the colon
            }
            try value()
            skipBlanks()
        }
        advance()
        try builder.end()
    }

    private mutating func string() throws(TextFault) {
        let start = (place, position)
        var hasEscapes = false
        advance()
        while let byte = next, byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\") {
                hasEscapes = true
                advance()
            }
            advance()
        }
        advance()
        let literal = bytes[start.1..<position]
        let text =
            hasEscapes
            ? decodedString(literal)
            : String(decoding: literal.dropFirst().dropLast(), as: UTF8.self)
        guard let text else { throw TextFault(start.0, "cannot read JSON: an odd escape") }
        try builder.scalar(text, at: start.0)
    }

    /// A number, `true`, `false` or `null`.
    private mutating func word() throws(TextFault) {
        let start = (place, position)
        while let byte = next, !Self.endsWord(byte) { advance() }
        let text = String(decoding: bytes[start.1..<position], as: UTF8.self)
        if text == "null" {
            try builder.null(at: start.0)
        } else {
            try builder.scalar(text, at: start.0)
        }
    }

    private static func endsWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), 0...0x20: true
        default: false
        }
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte <= 0x20 { advance() }
    }

    private mutating func advance() {
        guard let byte = next else { return }
        position += 1
        if byte == UInt8(ascii: "\n") {
            place = Place(line: place.line + 1, column: 1)
        } else if byte & 0xC0 != 0x80 {
            place.column += 1
        }
    }
}
