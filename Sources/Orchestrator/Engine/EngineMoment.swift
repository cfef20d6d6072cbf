import CProcess
import Glibc

/// A moment on the wall clock, which is only ever printed, and on the monotonic clock, for
/// distances.
struct EngineMoment: Hashable, Sendable {
    /// Nanoseconds since 1970.
    let wall: Int64
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    let monotonic: Int64

    /// As records of events take it.
    var pair: (wall: Int64, monotonic: Int64) { (wall, monotonic) }

    static func now() -> EngineMoment {
        EngineMoment(wall: cproc_clock(CLOCK_REALTIME), monotonic: cproc_clock(CLOCK_MONOTONIC))
    }
}
