/// A moment on both of the brain's clocks, each as the time since its own origin.
///
/// What judges a child counts *awake* time: a process that was asleep was not hung. What waits for
/// the world or the user counts *boot* time, which goes on while the machine sleeps.
public struct Instant: Hashable, Sendable {
    /// Time the machine was awake (`CLOCK_MONOTONIC` on Linux).
    public var awake: Duration
    /// Time since boot, sleep included (`CLOCK_BOOTTIME` on Linux).
    public var boot: Duration

    /// A moment read from both clocks at once.
    public init(awake: Duration, boot: Duration) {
        self.awake = awake
        self.boot = boot
    }

    /// The moment both clocks started.
    public static let origin = Instant(awake: .zero, boot: .zero)

    /// The reading of one of the two clocks.
    public func reading(of clock: ClockKind) -> Duration {
        switch clock {
        case .awake: awake
        case .boot: boot
        }
    }

    /// The same moment on both clocks, `duration` later; saturates at a century.
    public func advanced(by duration: Duration) -> Instant {
        Instant(awake: awake.saturatingSum(duration), boot: boot.saturatingSum(duration))
    }
}

/// Which of its two clocks a timer waits on.
public enum ClockKind: Hashable, Sendable, CaseIterable {
    /// Time the machine was awake.
    case awake
    /// Time since boot, sleep included.
    case boot
}
