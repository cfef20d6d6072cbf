/// A problem at a place of a text.
struct TextFault: Error {
    var place: Place
    /// The keys that lead there, if somebody knows.
    var path = ""
    var message: String
    var suggestion: String?

    init(_ place: Place, _ message: String, suggestion: String? = nil) {
        self.place = place
        self.message = message
        self.suggestion = suggestion
    }
}

/// `bytes` as text.
/// - Throws: The place of a byte order mark, a NUL, or the first byte that is not UTF-8.
func sourceText(_ bytes: [UInt8]) throws(TextFault) -> String {
    let start = Place(line: 1, column: 1)
    let saveAgain = "save it as UTF-8 without a byte order mark"
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
        throw TextFault(start, "the file begins with a byte order mark", suggestion: saveAgain)
    }
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
        throw TextFault(start, "the file is UTF-16", suggestion: saveAgain)
    }
    if let offset = bytes.firstIndex(of: 0) {
        throw TextFault(place(of: offset, in: bytes), "the file contains a NUL byte")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
        let offset = firstInvalidByte(bytes)
        let shown = "0x" + String(bytes[offset], radix: 16, uppercase: true)
        throw TextFault(place(of: offset, in: bytes), "byte \(shown) is not UTF-8")
    }
    return text
}

/// The line and column of a byte; columns count characters (Unicode scalars).
func place(of offset: Int, in bytes: [UInt8]) -> Place {
    var place = Place(line: 1, column: 1)
    for byte in bytes.prefix(offset) {
        if byte == UInt8(ascii: "\n") {
            place.line += 1
            place.column = 1
        } else if byte & 0xC0 != 0x80 {
            place.column += 1
        }
    }
    return place
}

/// Where the first sequence that is not UTF-8 begins.
private func firstInvalidByte(_ bytes: [UInt8]) -> Int {
    var offset = 0
    while offset < bytes.count {
        let length = sequenceLength(bytes[offset])
        let end = offset + length
        guard length > 0, end <= bytes.count,
            String(validating: bytes[offset..<end], as: UTF8.self) != nil
        else { return offset }
        offset = end
    }
    return max(0, bytes.count - 1)
}

private func sequenceLength(_ first: UInt8) -> Int {
    switch first {
    case 0x00...0x7F: 1
    case 0xC2...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF4: 4
    default: 0
    }
}
