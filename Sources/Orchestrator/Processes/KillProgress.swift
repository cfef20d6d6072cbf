import Stoic

/// How far a kill has come: whom it has hit, and when to look again.
///
/// SIGKILL reaches those who exist; who forks and exits in that moment leaves somebody new. So a
/// sweep is repeated as long as it meets anybody new, at once and then after growing delays. These
/// end: what is left after the last cannot die, and its end will be told by SIGCHLD.
struct KillProgress {
    /// Start times of those hit; 0 for our own children, whose number is theirs until reaped.
    var hit: [Int32: UInt64] = [:]
    private var sweeps = 0

    /// When to sweep again: after 1 ms, 2 ms, … 1.024 s, in all two seconds; then never.
    private static let delays = Schedule.exponential(base: .milliseconds(1), cap: .seconds(2))
    private static let mostSweeps = 11

    /// Rounds of one sweep. Each costs a few dozen microseconds, so a sweep stays below some
    /// milliseconds even against a chain of forks.
    static let mostRounds = 64

    /// Looks at the newest processes in one round, where the kernel lists no children, and how many
    /// of them in a row may meet nobody. A look costs some ten microseconds for each process.
    static let mostLooks = 256
    static let mostLooksInVain = 4

    /// Calls `round` until it meets nobody new.
    mutating func sweep(_ round: (inout KillProgress) -> Bool) {
        for _ in 0..<Self.mostRounds where !round(&self) { return }
    }

    /// When to sweep again.
    mutating func nextDelay() -> Duration? {
        guard sweeps < Self.mostSweeps else { return nil }
        defer { sweeps += 1 }
        // A number may have come to mean somebody else since.
        hit = [:]
        return Self.delays.delayBeforeJitter(step: sweeps)
    }
}
