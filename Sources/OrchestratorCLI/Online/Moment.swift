import CProcess
import Glibc

/// A moment on the wall clock as a person names it: by its age, or by its date. Only for looking at
/// what was written; nothing is measured by it.
enum Moment {
    /// Nanoseconds since 1970 of `text`, seen at `now`: `10m` is ten minutes earlier;
    /// `2026-01-31T12:00:00Z`, `2026-01-31 12:00` (local) and `2026-01-31` are dates.
    /// - Returns: `nil` for anything else.
    static func nanoseconds(of text: String, now: Int64) -> Int64? {
        if case .duration(let age) = read(text, as: .duration) {
            let parts = age.components
            return now - parts.seconds * 1_000_000_000 - parts.attoseconds / 1_000_000_000
        }
        return date(text)
    }

    /// The wall clock, now.
    static var now: Int64 { cproc_clock(CLOCK_REALTIME) }

    private static func date(_ text: String) -> Int64? {
        let isUTC = text.hasSuffix("Z")
        let body = isUTC ? text.dropLast() : text[...]
        let halves = body.split(whereSeparator: { $0 == "T" || $0 == " " })
        guard (1...2).contains(halves.count), let day = numbers(halves[0], "-"), day.count == 3
        else { return nil }
        let clock = halves.count == 2 ? numbers(halves[1], ":") : [0, 0, 0]
        guard let clock, (2...3).contains(clock.count) else { return nil }
        let seconds = clock.count == 3 ? clock[2] : 0
        guard (1970...2200).contains(day[0]), (1...12).contains(day[1]),
            (1...31).contains(day[2]), (0...23).contains(clock[0]), (0...59).contains(clock[1]),
            (0...60).contains(seconds)
        else { return nil }
        // SAFETY: the functions read numbers only; the one pointer in it, the name of the zone, is
        // never read.
        var parts = unsafe tm()
        unsafe parts.tm_year = day[0] - 1900
        unsafe parts.tm_mon = day[1] - 1
        unsafe parts.tm_mday = day[2]
        unsafe parts.tm_hour = clock[0]
        unsafe parts.tm_min = clock[1]
        unsafe parts.tm_sec = seconds
        unsafe parts.tm_isdst = -1
        let time = unsafe isUTC ? timegm(&parts) : mktime(&parts)
        return time < 0 ? nil : Int64(time) * 1_000_000_000
    }

    private static func numbers(_ text: Substring, _ separator: Character) -> [Int32]? {
        let words = text.split(separator: separator, omittingEmptySubsequences: false)
        let numbers = words.compactMap { word in
            word.utf8.count <= 4 && word.utf8.allSatisfy { (48...57).contains($0) }
                ? Int32(word) : nil
        }
        return numbers.count == words.count ? numbers : nil
    }
}
