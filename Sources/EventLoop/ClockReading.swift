import CProcess
import Glibc

/// The reading of a kernel clock, in nanoseconds since its origin.
func nanoseconds(of clock: clockid_t) -> Int64 {
    let reading = cproc_clock(clock)
    demand(reading >= 0, "cannot read clock \(clock)")
    return reading
}

/// Time the machine was awake since it booted: what limits are measured in. The library's clocks
/// bring its tasks and their queues into the program, which has neither.
public func awakeTime() -> Duration { .nanoseconds(nanoseconds(of: CLOCK_MONOTONIC)) }

extension Duration {
    /// A hundred years of 365.25 days: longer waits are clamped to it.
    private static let longestWait = Duration.seconds(3_155_760_000)

    /// A wait in whole nanoseconds, rounded up (so that nothing fires early), between zero and a
    /// century.
    var waitInNanoseconds: Int64 {
        let (seconds, attoseconds) = min(max(self, .zero), Duration.longestWait).components
        return seconds * 1_000_000_000 + (attoseconds + 999_999_999) / 1_000_000_000
    }
}
