internal import Glibc

/// Where output gets its times from; a test brings its own.
struct OutputClock {
    /// Both readings, now.
    var now: () -> OutputStamp

    /// The clocks of the system.
    static var system: OutputClock {
        OutputClock {
            OutputStamp(wall: reading(CLOCK_REALTIME), monotonic: reading(CLOCK_MONOTONIC))
        }
    }
}

/// Nanoseconds of a clock every Linux has: reading it cannot fail.
private func reading(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
