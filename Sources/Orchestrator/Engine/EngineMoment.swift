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
        EngineMoment(wall: read(CLOCK_REALTIME), monotonic: read(CLOCK_MONOTONIC))
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
