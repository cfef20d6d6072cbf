import Testing

@testable import EventLoop

@Suite("Waits in nanoseconds", .timeLimit(.minutes(1)))
struct ClockReadingTests {
    private static let century: Int64 = 3_155_760_000_000_000_000
    private static let rows: [(Duration, Int64)] = [
        (.zero, 0),
        (.nanoseconds(1), 1),
        (Duration(secondsComponent: 0, attosecondsComponent: 1), 1),
        (Duration(secondsComponent: 2, attosecondsComponent: 1_000_000_001), 2_000_000_002),
        (.milliseconds(-1), 0),
        (.seconds(Int64.min), 0),
        (.seconds(3_155_760_000), century),
        (.seconds(3_155_759_999) + .nanoseconds(999_999_999), century - 1),
        (.seconds(Int64.max), century),
    ]

    @Test("are rounded up, and lie between nothing and a century", arguments: rows)
    func wait(_ duration: Duration, _ nanoseconds: Int64) {
        #expect(duration.waitInNanoseconds == nanoseconds)
    }
}
