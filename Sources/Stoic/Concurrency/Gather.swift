import Synchronization

/// Runs some operations side by side and returns the values of all of them.
///
/// ```swift
/// let (user, orders) = try await gather({ try await loadUser() }, { try await loadOrders() })
/// ```
/// As many run at a time as are written down. The first failure cancels the others, which are
/// awaited as `mapConcurrent` does.
/// - Parameters:
///   - operations: They run beside the caller, not on its actor.
///   - losersWithin: How long cancelled work is awaited; 5 seconds unless given.
///   - clock: Whose time bounds that wait; the ambient clock unless given.
/// - Throws: `ConcurrentFailure<E>` with every failure in the order they came, and
///   `CancellationError` alone if the caller is cancelled first, or if an operation ended with
///   nothing but that.
public nonisolated(nonsending) func gather<each R: Sendable, E: Error>(
    _ operations: repeat @escaping @Sendable () async throws(E) -> each R,
    losersWithin: Duration = .seconds(5), clock: (any Clock<Duration>)? = nil
) async throws -> (repeat each R) {
    var work: [Runner<Void, E>] = []
    let slots = (repeat Slot<each R>())
    repeat work.append((each slots).filling(each operations))
    let crew = Crew<Void, E>(
        "gather", limit: max(1, work.count), onFailure: .cancelSiblings,
        losersWithin: losersWithin, clock: clock)
    try await crew.work(
        on: work, { (one) async throws(E) in try await one.run() }, take: { _, _ in })
    return (repeat (each slots).value)
}

/// Where one value of a `gather` comes to lie.
private final class Slot<R: Sendable>: Sendable {
    private let stored = Mutex<R?>(nil)

    func filling<E: Error>(
        _ operation: @escaping @Sendable () async throws(E) -> R
    ) -> Runner<Void, E> {
        Runner { () async throws(E) in
            let value = try await operation()
            self.stored.withLock { $0 = value }
        }
    }

    var value: R {
        guard let value = stored.withLock({ $0 }) else {
            preconditionFailure("an operation that succeeded has a value")
        }
        return value
    }
}
