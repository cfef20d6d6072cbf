internal import Manifest
internal import Stoic

/// The longest time a stop of the whole project takes, and who pays when one service hangs.
///
/// Every stop gets a *slot* out of what is left of `exitBudget` (`B`). With `later` stops to come
/// after it, and `S` its own `stopTimeout`:
///
///     slot = min(S, max(left − later × 500 ms, left / 2))
///
/// A hanging service uses its whole slot; one that does not hang takes none of it.
struct StopWorstCase: Hashable, Sendable {
    /// Only the slowest service hangs.
    var oneHangs: TimedPath
    /// Every service uses its slot: never more than `exitBudget`.
    var allHang: Duration
    /// What all slots would add up to (one after another, or along the longest path when the stop
    /// is parallel) if there were no `exitBudget`.
    var wanted: TimedPath
    /// Services that do not get their `stopTimeout` even when nothing else hangs.
    var tooLong: [Shortage]
    /// Who is cut short when one service hangs: the worst victim of each, at most `mostShortages`.
    var shortages: [Shortage]
    /// Whether there are more than are listed.
    var hasMoreShortages: Bool

    /// One service that gets less than its `stopTimeout`.
    struct Shortage: Hashable, Sendable {
        /// The one that hangs; the same as `victim` when it is cut short by the budget alone.
        var hanging: ServiceName
        /// The one that is cut short.
        var victim: ServiceName
        /// What it gets.
        var slot: Duration
        /// What it asked for.
        var stopTimeout: Duration
        /// How many more services are cut short as well.
        var others: Int
        /// An `exitBudget` with which this does not happen.
        var enough: Duration
    }

    /// Shortages beyond this many are not listed.
    static let mostShortages = 20
    /// What every later stop is left with at least, so that it gets its SIGTERM.
    static let reserve = Duration.milliseconds(500)

    /// The slot of one stop.
    static func slot(_ stopTimeout: Duration, left: Duration, later: Int) -> Duration {
        let kept = (left - reserve * later).clamped
        return min(stopTimeout.clamped, max(kept, left / 2))
    }

    /// - Precondition: The graph is valid, as a loaded project's is.
    init(of project: ProjectDefinition) {
        let calculation = StopCalculation(project)
        let specs = project.services.map(\.spec)
        let alone = calculation.slotsAlone()
        if let slowest = specs.indices.max(by: { alone[$0] < alone[$1] }) {
            oneHangs = TimedPath(services: [specs[slowest].name], duration: alone[slowest])
        } else {
            oneHangs = TimedPath(services: [], duration: .zero)
        }
        wanted = calculation.wanted()
        allHang = min(wanted.duration, project.exitBudget)
        tooLong = calculation.tooLong(alone)
        (shortages, hasMoreShortages) = calculation.shortages()
    }
}
