/// Decoding of text that nobody promised to be UTF-8.
enum LenientUTF8 {
    /// The text of `bytes`, with one U+FFFD for each byte that is not part of a valid sequence.
    ///
    /// Stricter than `String(decoding:as:)`, which gives one U+FFFD for a whole cut sequence: here
    /// the count of marks is the count of bad bytes.
    /// - Complexity: O(n); one pass more when something is bad.
    static func decode(_ bytes: ArraySlice<UInt8>) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        var repaired: [UInt8] = []
        repaired.reserveCapacity(bytes.count + 16)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let length = sequenceLength(in: bytes, at: index)
            if length == 0 {
                repaired.append(contentsOf: [0xEF, 0xBF, 0xBD])
                index += 1
            } else {
                repaired.append(contentsOf: bytes[index..<index + length])
                index += length
            }
        }
        return String(decoding: repaired, as: UTF8.self)
    }

    /// How many bytes of the end of `bytes` are the beginning of a sequence that goes on after it,
    /// 0 to 3.
    static func danglingLength(of bytes: ArraySlice<UInt8>) -> Int {
        for back in 1...3 where back <= bytes.count {
            let byte = bytes[bytes.endIndex - back]
            if byte & 0xC0 == 0x80 { continue }
            return expectedLength(lead: byte) > back ? back : 0
        }
        return 0
    }

    /// The length of the sequence a byte announces; 0 for a byte that starts none.
    private static func expectedLength(lead byte: UInt8) -> Int {
        switch byte {
        case 0x00...0x7F: 1
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 0
        }
    }

    /// The length of the valid sequence at `index` (Unicode, table 3-7), or 0 if there is none.
    private static func sequenceLength(in bytes: ArraySlice<UInt8>, at index: Int) -> Int {
        let lead = bytes[index]
        let length = expectedLength(lead: lead)
        guard length > 1 else { return length }
        guard index + length <= bytes.endIndex else { return 0 }
        let second: ClosedRange<UInt8> =
            switch lead {
            case 0xE0: 0xA0...0xBF
            case 0xED: 0x80...0x9F
            case 0xF0: 0x90...0xBF
            case 0xF4: 0x80...0x8F
            default: 0x80...0xBF
            }
        guard second.contains(bytes[index + 1]) else { return 0 }
        let rest = bytes[(index + 2)..<(index + length)]
        return rest.allSatisfy { $0 & 0xC0 == 0x80 } ? length : 0
    }
}
