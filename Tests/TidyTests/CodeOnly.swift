/// Blanks comments and the inside of string literals of Swift and C, keeping every line where it
/// is, so that a rule about code is not set off by prose. Interpolations go with their string.
struct CodeOnly {
    private let bytes: [UInt8]
    private var place = 0
    private var output: [UInt8] = []

    /// The code of `source`.
    static func text(of source: String) -> String {
        var scanner = CodeOnly(bytes: Array(source.utf8))
        scanner.scan()
        return String(decoding: scanner.output, as: UTF8.self)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func scan() {
        while place < bytes.count {
            if sees("//") {
                skip { $0.sees("\n") }
            } else if sees("/*") {
                skipBlockComment()
            } else if let hashes = opensString() {
                skipString(hashes: hashes)
            } else if sees("'"), let length = characterLength() {
                blank(length)
            } else {
                output.append(bytes[place])
                place += 1
            }
        }
    }

    private func sees(_ text: StaticString) -> Bool { sees(text, at: place) }

    private func sees(_ text: StaticString, at start: Int) -> Bool {
        text.withUTF8Buffer { wanted in
            guard start + wanted.count <= bytes.count else { return false }
            for offset in 0..<wanted.count where unsafe bytes[start + offset] != wanted[offset] {
                return false
            }
            return true
        }
    }

    private mutating func blank(_ count: Int) {
        for _ in 0..<count where place < bytes.count {
            output.append(bytes[place] == UInt8(ascii: "\n") ? bytes[place] : UInt8(ascii: " "))
            place += 1
        }
    }

    private mutating func skip(until isEnd: (CodeOnly) -> Bool) {
        while place < bytes.count, !isEnd(self) { blank(1) }
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if sees("/*") {
                depth += 1
                blank(2)
            } else if sees("*/") {
                depth -= 1
                blank(2)
            } else {
                blank(1)
            }
        } while depth > 0 && place < bytes.count
    }

    /// The number of `#` before a quote that starts here.
    private func opensString() -> Int? {
        var next = place
        while next < bytes.count, bytes[next] == UInt8(ascii: "#") { next += 1 }
        guard next < bytes.count, bytes[next] == UInt8(ascii: "\"") else { return nil }
        return next - place
    }

    /// The length of a C character literal that starts here.
    private func characterLength() -> Int? {
        let isEscape = sees("\\", at: place + 1)
        for length in (isEscape ? 4 : 3)...(isEscape ? 6 : 3)
        where sees("'", at: place + length - 1) {
            return length
        }
        return nil
    }

    /// A quote stays, so that code still shows where a literal was; what is inside does not.
    private mutating func skipString(hashes: Int) {
        blank(hashes)
        let isMultiline = sees("\"\"\"")
        let quotes = isMultiline ? 3 : 1
        output += [UInt8](repeating: UInt8(ascii: "\""), count: quotes)
        place += quotes
        while place < bytes.count {
            if sees("\\"), hashesFollow(place + 1, hashes) {
                skipEscape(hashes: hashes)
            } else if closes(quotes: quotes, hashes: hashes) {
                output += [UInt8](repeating: UInt8(ascii: "\""), count: quotes)
                place += quotes
                blank(hashes)
                return
            } else if !isMultiline, sees("\n") {
                return
            } else {
                blank(1)
            }
        }
    }

    private func hashesFollow(_ start: Int, _ count: Int) -> Bool {
        (0..<count).allSatisfy { sees("#", at: start + $0) }
    }

    private func closes(quotes: Int, hashes: Int) -> Bool {
        (0..<quotes).allSatisfy { sees("\"", at: place + $0) }
            && hashesFollow(place + quotes, hashes)
    }

    private mutating func skipEscape(hashes: Int) {
        blank(1 + hashes)
        guard sees("(") else { return blank(1) }
        var depth = 0
        repeat {
            if let inner = opensString() {
                let kept = output.count
                let start = place
                skipString(hashes: inner)
                output.replaceSubrange(
                    kept..., with: repeatElement(UInt8(ascii: " "), count: place - start))
                continue
            }
            if sees("(") { depth += 1 }
            if sees(")") { depth -= 1 }
            blank(1)
        } while depth > 0 && place < bytes.count
    }
}
