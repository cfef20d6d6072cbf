/// Writes one JSON text (RFC 8259) as UTF-8, piece by piece, without whitespace.
///
/// It puts the commas and escapes the strings; that braces match and that every value in an object
/// has a key is up to the caller. Numbers JSON cannot say (NaN, the infinities) become `null`.
public struct JSONWriter: Sendable {
    /// What was written so far. A caller may append a newline between two texts.
    public var bytes: [UInt8] = []
    /// Whether the next value or key follows another one in the same container.
    private var needsComma = false

    /// A writer with nothing written.
    public init() {}

    /// What was written so far, as text.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Opens an object, as a value.
    public mutating func beginObject() { open(UInt8(ascii: "{")) }
    /// Closes the innermost object.
    public mutating func endObject() { close(UInt8(ascii: "}")) }
    /// Opens an array, as a value.
    public mutating func beginArray() { open(UInt8(ascii: "[")) }
    /// Closes the innermost array.
    public mutating func endArray() { close(UInt8(ascii: "]")) }

    /// Names the value that comes next in an object.
    public mutating func key(_ name: String) {
        separate()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a string; `nil` becomes `null`.
    public mutating func value(_ text: String?) {
        guard let text else { return null() }
        separate()
        quote(text)
    }

    /// Writes an integer; `nil` becomes `null`.
    public mutating func value(_ number: Int?) { word(number?.description) }
    /// Writes an integer; `nil` becomes `null`.
    public mutating func value(_ number: Int64?) { word(number?.description) }
    /// Writes an integer; `nil` becomes `null`. Readers that keep numbers as doubles lose digits
    /// above 2⁵³.
    public mutating func value(_ number: UInt64?) { word(number?.description) }
    /// Writes a boolean; `nil` becomes `null`.
    public mutating func value(_ flag: Bool?) { word(flag?.description) }

    /// Writes a number; `nil`, NaN and the infinities become `null`.
    public mutating func value(_ number: Double?) {
        guard let number, number.isFinite else { return null() }
        word(number.description)
    }

    /// Writes `null`.
    public mutating func null() { word(nil) }

    /// Starts over with nothing written; keeps the memory.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    /// Ends this text with a newline, so that another may follow: the JSON Lines format.
    public mutating func endLine() {
        bytes.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func word(_ text: String?) {
        separate()
        bytes.append(contentsOf: (text ?? "null").utf8)
    }

    /// Escapes what JSON demands (quote, backslash, U+0000 to U+001F) and U+007F, so that a
    /// terminal shown the text raw sees no control byte.
    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for unit in text.utf8 {
            switch unit {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(unit)
            case UInt8(ascii: "\n"): bytes.append(contentsOf: "\\n".utf8)
            case UInt8(ascii: "\r"): bytes.append(contentsOf: "\\r".utf8)
            case UInt8(ascii: "\t"): bytes.append(contentsOf: "\\t".utf8)
            case 0..<0x20, 0x7F:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(hexDigit(unit >> 4))
                bytes.append(hexDigit(unit & 0xF))
            default: bytes.append(unit)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

/// The digit of a value below 16, in lower case.
private func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}
