import Stoic

/// Durations as people write and read them.
enum DurationText {
    private static let units: [(name: String, nanoseconds: Int64)] = [
        ("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000),
        ("m", 60_000_000_000), ("h", 3_600_000_000_000), ("d", 86_400_000_000_000),
    ]

    /// Reads `10s`, `1.5h`, `1m30s`, `250ms`. A number without a unit is not a duration, except 0.
    /// - Returns: At most a century; `nil` for anything else.
    static func parse(_ text: String) -> Duration? {
        if text == "0" { return .zero }
        var rest = text[...]
        var total = Duration.zero
        guard !rest.isEmpty, rest.utf8.count <= 64 else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            rest = rest.dropFirst(digits.count)
            let unit = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(unit.count)
            guard let number = Double(digits), number.isFinite,
                let found = units.first(where: { $0.name == unit })
            else { return nil }
            let seconds = number * Double(found.nanoseconds) / 1e9
            guard seconds <= 3_155_760_000 else { return nil }
            total = total.saturatingSum(part(number, found.nanoseconds, seconds))
        }
        return total
    }

    /// Whole numbers are exact; fractions go through `Double`.
    private static func part(_ number: Double, _ unit: Int64, _ seconds: Double) -> Duration {
        guard number == number.rounded(), number < 1e15 else { return .seconds(seconds) }
        let (nanoseconds, overflow) = Int64(number).multipliedReportingOverflow(by: unit)
        return overflow ? .seconds(seconds) : .nanoseconds(nanoseconds)
    }

    /// For people, with two units at most: `250 ms`, `3.2 s`, `30 s`, `1 min 30 s`, `2 h 5 min`,
    /// `3 d 4 h`. Never shown as less than it is by more than the last digit.
    static func human(_ duration: Duration) -> String {
        if duration < .zero { return "-" + human(.zero - duration) }
        if duration >= .century { return "for ever" }
        let milliseconds = roundedMilliseconds(duration)
        if duration == .zero { return "0 s" }
        if milliseconds == 0 { return "<1 ms" }
        if milliseconds < 1_000 { return "\(milliseconds) ms" }
        if milliseconds < 60_000 { return seconds(milliseconds) }
        let total = (milliseconds + 500) / 1_000
        let (days, hours) = (total / 86_400, total / 3_600 % 24)
        let (minutes, seconds) = (total / 60 % 60, total % 60)
        if days > 0 { return two(days, "d", hours, "h") }
        if hours > 0 { return two(hours, "h", minutes, "min") }
        return two(minutes, "min", seconds, "s")
    }

    private static func seconds(_ milliseconds: Int64) -> String {
        let tenths = (milliseconds + 50) / 100
        if tenths >= 600 { return "1 min" }
        return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
    }

    private static func two(_ first: Int64, _ large: String, _ second: Int64, _ small: String)
        -> String
    {
        second == 0 ? "\(first) \(large)" : "\(first) \(large) \(second) \(small)"
    }

    private static func roundedMilliseconds(_ duration: Duration) -> Int64 {
        let parts = duration.components
        return parts.seconds * 1_000 + (parts.attoseconds + 500_000_000_000_000)
            / 1_000_000_000_000_000
    }

    /// As the config writes it, exactly and without spaces: `1h30m`, `500ms`, `0s`.
    static func exact(_ duration: Duration) -> String {
        let parts = duration.clamped.components
        if parts.seconds == 0, parts.attoseconds == 0 { return "0s" }
        var text = ""
        var seconds = parts.seconds
        for (name, size) in [("h", Int64(3_600)), ("m", 60), ("s", 1)] where seconds >= size {
            text += "\(seconds / size)\(name)"
            seconds %= size
        }
        var nanoseconds = parts.attoseconds / 1_000_000_000
        for (name, size) in [("ms", Int64(1_000_000)), ("us", 1_000), ("ns", 1)]
        where nanoseconds >= size {
            text += "\(nanoseconds / size)\(name)"
            nanoseconds %= size
        }
        return text.isEmpty ? "0s" : text
    }
}
