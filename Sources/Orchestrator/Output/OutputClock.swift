import CProcess
import Glibc

/// Where output gets its times from; a test brings its own.
struct OutputClock {
    /// Both readings, now.
    var now: () -> OutputStamp

    /// The clocks of the system.
    static var system: OutputClock {
        OutputClock {
            OutputStamp(wall: cproc_clock(CLOCK_REALTIME), monotonic: cproc_clock(CLOCK_MONOTONIC))
        }
    }
}
