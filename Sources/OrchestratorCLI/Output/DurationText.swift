internal import Stoic

/// A duration for people, with two units at most: `250 ms`, `3.2 s`, `30 s`, `1 min 30 s`,
/// `2 h 5 min`, `3 d 4 h`. Rounded to the nearest of what is shown.
func humanDuration(_ duration: Duration) -> String {
    if duration < .zero { return "-" + humanDuration(.zero - duration.clamped) }
    if duration >= .century { return "for ever" }
    if duration == .zero { return "0 s" }
    let milliseconds = wholeMilliseconds(duration)
    if milliseconds == 0 { return "<1 ms" }
    if milliseconds < 1_000 { return "\(milliseconds) ms" }
    if milliseconds < 59_950 { return secondsText(milliseconds) }
    let total = (milliseconds + 500) / 1_000
    let (days, hours) = (total / 86_400, total / 3_600 % 24)
    let (minutes, seconds) = (total / 60 % 60, total % 60)
    if days > 0 { return twoUnits(days, "d", hours, "h") }
    if hours > 0 { return twoUnits(hours, "h", minutes, "min") }
    return twoUnits(minutes, "min", seconds, "s")
}

/// A duration in milliseconds, rounded to the nearest.
func wholeMilliseconds(_ duration: Duration) -> Int64 {
    let parts = duration.clamped.components
    let rounded = (parts.attoseconds + 500_000_000_000_000) / 1_000_000_000_000_000
    return parts.seconds * 1_000 + rounded
}

private func secondsText(_ milliseconds: Int64) -> String {
    let tenths = (milliseconds + 50) / 100
    return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
}

private func twoUnits(_ first: Int64, _ large: String, _ second: Int64, _ small: String) -> String {
    second == 0 ? "\(first) \(large)" : "\(first) \(large) \(second) \(small)"
}
