/// How one budget is shared among stops that follow each other, so that one that hangs neither
/// starves the others nor, when nothing hangs, costs any of them anything.
public enum FairShare {
    /// What every later stop keeps for itself.
    public static let reserve = Duration.milliseconds(500)
    /// The longest wait for a tree to empty after SIGKILL.
    public static let killWait = Duration.seconds(1)

    /// The time one stop may take: `wanted`, or what is left when each of the `later` stops keeps
    /// its reserve, but never less than half of what is left.
    public static func slot(wanted: Duration, remaining: Duration, later: Int) -> Duration {
        let left = max(remaining, .zero).clamped
        let kept = reserve * min(later, 1_000_000)
        return min(wanted.clamped, max(left - kept, left / 2))
    }
}

/// One service's slot, split at SIGKILL.
struct StopSlot: Hashable, Sendable {
    /// From the begin of the stop to SIGKILL.
    let beforeKill: Duration
    /// From SIGKILL to being abandoned.
    let afterKill: Duration

    /// Without a budget: SIGKILL at `stopTimeout`, and the whole wait after it.
    init(stopTimeout: Duration) {
        beforeKill = max(stopTimeout, .zero).clamped
        afterKill = FairShare.killWait
    }

    /// Within a budget: the wait after SIGKILL lies inside the slot and is at most half of it.
    init(stopTimeout: Duration, remaining: Duration, later: Int) {
        let unbounded = StopSlot(stopTimeout: stopTimeout)
        let wanted = unbounded.beforeKill.saturatingSum(unbounded.afterKill)
        let slot = FairShare.slot(wanted: wanted, remaining: remaining, later: later)
        afterKill = min(FairShare.killWait, slot / 2)
        beforeKill = min(unbounded.beforeKill, slot - afterKill)
    }
}
