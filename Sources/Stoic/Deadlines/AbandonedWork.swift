import Synchronization

/// Counts work that ignored its cancellation and was left behind, for one owner and those around
/// it. Bounded: over the cap nobody abandons any more, but waits.
final class AbandonedWork: Sendable {
    /// The most that may be left behind in a process, all owners together.
    static let cap = 64
    /// All of the process's.
    private static let process = Mutex(0)

    /// The work left behind in the whole process.
    static var inProcess: Int { process.withLock { $0 } }

    private let outer: AbandonedWork?
    private let live = Mutex(0)

    init(inside outer: AbandonedWork?) { self.outer = outer }

    /// What of this owner's work still runs.
    var count: Int { live.withLock { $0 } }

    /// Takes one of the places there are in the process, for `owner` and those around it.
    static func begin(for owner: AbandonedWork?) -> Bool {
        let admitted = process.withLock { count in
            guard count < cap else { return false }
            count += 1
            return true
        }
        guard admitted else { return false }
        owner?.add(1)
        return true
    }

    /// What was left behind has ended after all.
    static func end(for owner: AbandonedWork?) {
        process.withLock { $0 -= 1 }
        owner?.add(-1)
    }

    private func add(_ change: Int) {
        var next: AbandonedWork? = self
        while let owner = next {
            owner.live.withLock { $0 += change }
            next = owner.outer
        }
    }
}
