internal import Glibc

/// A moment on the wall clock, as people and other programs read it. Only ever printed: nothing is
/// measured or decided by it.
public struct WallTime: Hashable, Sendable {
    /// Nanoseconds since 1970 in UTC.
    public var nanoseconds: Int64

    /// The moment this many nanoseconds after 1970.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// RFC 3339 in UTC with milliseconds: `2026-08-01T12:00:00.000Z`.
    public var utc: String {
        var seconds = wholeSeconds
        // SAFETY: the call fills `parts`; the one pointer in it, the name of the zone, is never
        // read.
        var parts = unsafe tm()
        guard unsafe gmtime_r(&seconds, &parts) != nil else { return "invalid" }
        let day = unsafe [Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)]
        let time = unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec]
        return day.map { digits($0, 2) }.joined(separator: "-") + "T\(clock(time))Z"
    }

    /// The time of day in the zone of this process, with milliseconds: `14:00:00.000`.
    public var localTime: String {
        var seconds = wholeSeconds
        // SAFETY: the call fills `parts`; the one pointer in it, the name of the zone, is never
        // read.
        var parts = unsafe tm()
        guard unsafe localtime_r(&seconds, &parts) != nil else { return "invalid" }
        return clock(unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec])
    }

    private var wholeSeconds: Int { Int(floorDivision.quotient) }

    private var floorDivision: (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return remainder < 0 ? (quotient - 1, remainder + 1_000_000_000) : (quotient, remainder)
    }

    private func clock(_ time: [Int32]) -> String {
        let milliseconds = Int(floorDivision.remainder / 1_000_000)
        return time.map { digits(Int($0), 2) }.joined(separator: ":")
            + ".\(digits(milliseconds, 3))"
    }
}

/// A number with at least `width` digits.
private func digits(_ number: Int, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.count)) + text
}
