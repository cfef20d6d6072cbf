import Stoic

private let durationUnits: [ScaledNumber.Unit] = [
    ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("m", 60_000_000_000),
    ("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1),
]

private let durationExamples = "write it like 500ms, 1m30s or 2h"

/// Reads a duration as the config writes it: numbers with units, the larger unit first, each unit
/// at most once: `500ms`, `1.5s`, `1m30s`, `2h`. Units are d, h, m, s, ms, us and ns.
/// - Throws: `ValueError` for a bare number, a negative or malformed text, a fraction finer than a
///   nanosecond, and more than a century.
public func parseDuration(_ text: String) throws(ValueError) -> Duration {
    guard !text.isEmpty else {
        throw ValueError("a duration is missing", suggestion: durationExamples)
    }
    guard !text.hasPrefix("-") else {
        throw ValueError("a duration cannot be negative: \(quoted(text))")
    }
    var rest = Substring(text).utf8
    var nanoseconds: UInt64 = 0
    var lastUnit = -1
    while !rest.isEmpty {
        do throws(ScaledNumber.Failure) {
            let part = try ScaledNumber(from: &rest, units: durationUnits)
            guard part.unitIndex > lastUnit else { throw .malformed }
            lastUnit = part.unitIndex
            nanoseconds = try ScaledNumber.sum(nanoseconds, part.amount)
        } catch {
            throw durationError(error, text)
        }
    }
    guard nanoseconds <= UInt64(Int64.max) else { throw durationError(.overflow, text) }
    let duration = Duration.nanoseconds(Int64(nanoseconds))
    guard duration <= .century else { throw durationError(.overflow, text) }
    return duration
}

private func durationError(_ failure: ScaledNumber.Failure, _ text: String) -> ValueError {
    switch failure {
    case .malformed:
        ValueError("\(quoted(text)) is not a duration", suggestion: durationExamples)
    case .noUnit:
        ValueError("\(quoted(text)) has no unit", suggestion: "write \(text)s or \(text)ms")
    case .overflow:
        ValueError("\(quoted(text)) is longer than a century, the longest duration there is")
    case .tooFine:
        ValueError("\(quoted(text)) is finer than 1ns, the shortest duration there is")
    }
}

/// A duration as the config writes it, so that `parseDuration` gives it back: `0s`, `500ms`,
/// `1m30s`, `1h`. What is below a nanosecond is dropped, a negative duration gets a sign in front.
public func durationText(_ duration: Duration) -> String {
    guard duration >= .zero else { return "-" + durationText(.zero - duration.clamped) }
    let (seconds, attoseconds) = duration.clamped.components
    var rest = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds) / 1_000_000_000
    var text = ""
    // Days are read but not written: 36h says more to people than 1d12h.
    for (name, factor) in durationUnits.dropFirst() where rest >= factor {
        text += "\(rest / factor)\(name)"
        rest %= factor
    }
    return text.isEmpty ? "0s" : text
}
