/// Looking for parts of a text. The library's own come with the engine of regular expressions, a
/// third of the program's code, so no source may import it.
extension String {
    /// Whether `part` occurs in it, byte for byte.
    func contains(_ part: String) -> Bool {
        let bytes = Array(utf8)
        let wanted = Array(part.utf8)
        return bytes.indices.contains { bytes[$0...].starts(with: wanted) }
    }

    /// Each `part` replaced by `other`, from the left on, byte for byte.
    func replacing(_ part: String, with other: String) -> String {
        let wanted = Array(part.utf8)
        var rest = Array(utf8)[...]
        var result: [UInt8] = []
        while let byte = rest.first {
            if rest.starts(with: wanted) {
                result += other.utf8
                rest = rest.dropFirst(wanted.count)
            } else {
                result.append(byte)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
