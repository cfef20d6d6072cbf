private let sizeUnits: [ScaledNumber.Unit] = [
    ("B", 1), ("kB", 1_000), ("KB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30),
    ("TiB", 1 << 40),
]

private let sizeExamples = "write it like 10MiB, 10MB or 512B"

/// Reads a size as the config writes it: one number with one unit, `10MiB` (1,048,576s) or `10MB`
/// (1,000,000s). Units are B, kB, MB, GB, TB, KiB, MiB, GiB and TiB.
/// - Returns: Bytes.
/// - Throws: `ValueError` for a bare number, a negative or malformed text, a part of a byte, and
///   more than 64 bits can count.
public func parseSize(_ text: String) throws(ValueError) -> UInt64 {
    guard !text.isEmpty else { throw ValueError("a size is missing", suggestion: sizeExamples) }
    guard !text.hasPrefix("-") else {
        throw ValueError("a size cannot be negative: \(quoted(text))")
    }
    var rest = Substring(text).utf8
    do throws(ScaledNumber.Failure) {
        let size = try ScaledNumber(from: &rest, units: sizeUnits)
        guard rest.isEmpty else { throw .malformed }
        return size.amount
    } catch {
        throw sizeError(error, text)
    }
}

private func sizeError(_ failure: ScaledNumber.Failure, _ text: String) -> ValueError {
    switch failure {
    case .malformed:
        ValueError("\(quoted(text)) is not a size", suggestion: sizeExamples)
    case .noUnit:
        ValueError("\(quoted(text)) has no unit", suggestion: "write \(text)B or \(text)MiB")
    case .overflow:
        ValueError("\(quoted(text)) is more than 64 bits can count")
    case .tooFine:
        ValueError("\(quoted(text)) is not a whole number of bytes")
    }
}

/// A size for people and for `parseSize`: `10MiB`, `512B`.
public func sizeText(_ bytes: UInt64) -> String {
    for (name, factor) in sizeUnits.reversed() where name.hasSuffix("iB") {
        if bytes >= factor && bytes % factor == 0 { return "\(bytes / factor)\(name)" }
    }
    return "\(bytes)B"
}
