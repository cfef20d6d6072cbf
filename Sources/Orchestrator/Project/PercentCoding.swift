/// Percent-encoding (RFC 3986, section 2.1) of whole words.
enum PercentCoding {
    /// Encodes everything but letters, digits, `.`, `_`, `-` and `~`.
    static func encode(_ text: String) -> String {
        var result = [UInt8]()
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Decodes a word; `nil` for a `%` without two digits, and for what is no UTF-8 afterwards.
    ///
    /// - Parameter isForm: Whether `+` means a space, as in a query.
    static func decode(_ text: some Sequence<UInt8>, isForm: Bool = false) -> String? {
        var result = [UInt8]()
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit)
                else { return nil }
                result.append(high << 4 | low)
            case UInt8(ascii: "+") where isForm: result.append(UInt8(ascii: " "))
            default: result.append(byte)
            }
        }
        return String(validating: result, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "-"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
