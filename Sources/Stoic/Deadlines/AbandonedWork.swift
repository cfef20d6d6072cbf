import Synchronization

/// Counts work that ignored its cancellation and was left behind, for one owner and those around
/// it. Bounded: over the cap of the outermost, the process, nobody abandons any more, but waits.
final class AbandonedWork: Sendable {
    /// The most that may be left behind in a process, all owners together.
    static let cap = 64
    /// All of the process's. A simulation has one of its own, so that no test fills another's.
    private static let process = AbandonedWork(cap: cap)

    /// The work left behind in the whole process.
    static var inProcess: Int { root(of: Context.current.abandoned).count }

    private let outer: AbandonedWork?
    private let cap: Int
    private let live = Mutex(0)

    /// The count of one owner inside of `outer`, or of the process.
    init(inside outer: AbandonedWork?) {
        self.outer = outer ?? Self.process
        cap = .max
    }

    /// The count of a process.
    init(cap: Int) {
        outer = nil
        self.cap = cap
    }

    /// What of this owner's work still runs.
    var count: Int { live.withLock { $0 } }

    /// Takes one of the places there are in the process, for `owner` and those around it.
    static func begin(for owner: AbandonedWork?) -> Bool {
        let process = root(of: owner)
        let admitted = process.live.withLock { count in
            guard count < process.cap else { return false }
            count += 1
            return true
        }
        guard admitted else { return false }
        owner?.add(1)
        return true
    }

    /// What was left behind has ended after all.
    static func end(for owner: AbandonedWork?) {
        root(of: owner).live.withLock { $0 -= 1 }
        owner?.add(-1)
    }

    private static func root(of owner: AbandonedWork?) -> AbandonedWork {
        var last = owner ?? process
        while let next = last.outer { last = next }
        return last
    }

    /// Changes the count of this owner and of those around it, except the process.
    private func add(_ change: Int) {
        var next: AbandonedWork? = self
        while let owner = next, owner.outer != nil {
            owner.live.withLock { $0 += change }
            next = owner.outer
        }
    }
}

/// Runs `body` as if it were a process of its own: what it abandons fills nobody else's places.
package nonisolated(nonsending) func withOwnAbandonedWork<R>(
    _ body: nonisolated(nonsending) () async throws -> R
) async throws -> R {
    var context = Context.current
    context.abandoned = AbandonedWork(cap: AbandonedWork.cap)
    return try await withContext(context) { () async throws -> R in try await body() }
}

/// Runs `body` and gives back, beside its result, what counts the work it left behind.
package nonisolated(nonsending) func countingAbandonedWork<R>(
    _ body: nonisolated(nonsending) () async throws -> R
) async -> (result: Result<R, any Error>, left: @Sendable () -> Int) {
    var context = Context.current
    let own = AbandonedWork(inside: context.abandoned)
    context.abandoned = own
    let left: @Sendable () -> Int = { own.count }
    do {
        let value = try await withContext(context) { () async throws -> R in try await body() }
        return (.success(value), left)
    } catch {
        return (.failure(error), left)
    }
}
