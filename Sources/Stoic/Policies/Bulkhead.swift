/// Lets only so many operations run at once, so that one slow dependency cannot take every task,
/// connection or byte of memory there is.
///
/// Who finds no place waits in a bounded line, first come first served, for a bounded time.
///
/// ```swift
/// let images = Bulkhead("images", limit: 8)
/// let image = try await images.run { try await client.fetch(url) }
/// ```
public final class Bulkhead: Sendable {
    /// The longest anybody waits for a place.
    public let maxWait: Duration
    private let places: Semaphore

    /// - Parameters:
    ///   - label: What it guards, for events.
    ///   - limit: How many run at once; at least 1. There is no default: only you know what the
    ///     dependency bears.
    ///   - queue: How many may wait; as many as run unless given. A longer line only adds latency.
    ///   - maxWait: The longest anybody waits. A deadline around the call that passes sooner ends
    ///     the wait sooner.
    public init(
        _ label: String = "bulkhead", limit: Int, queue: Int? = nil,
        maxWait: Duration = .seconds(5)
    ) {
        self.maxWait = maxWait
        places = Semaphore(
            limit: limit, queue: queue ?? limit,
            report: Semaphore.Report(
                label: label, queued: .bulkheadQueued, waited: .bulkheadWaited,
                rejected: .bulkheadRejected))
    }

    /// How many run now.
    public var running: Int { places.limit - places.available }

    /// How many wait now.
    public var waiting: Int { places.waiting }

    /// Runs `operation` once there is a place for it.
    ///
    /// - Parameters:
    ///   - clock: Whose time the wait takes; the ambient clock unless given.
    ///   - operation: Runs on the caller's actor.
    /// - Throws: `PolicyError<E>`: `.rejected(.bulkheadFull)`, `.rejected(.bulkheadTimeout)`, or
    ///   `.rejected(.deadlinePassed)` if the deadline around the call ends the wait; `.failed` with
    ///   what `operation` threw. A `PolicyError` of a policy within, and `CancellationError`, as
    ///   they are.
    public nonisolated(nonsending) func run<R, E: Error>(
        clock: (any Clock<Duration>)? = nil,
        _ operation: nonisolated(nonsending) () async throws(E) -> R
    ) async throws -> R {
        let permit: Semaphore.Permit
        do {
            permit = try await places.acquire(within: maxWait, clock: clock)
        } catch {
            throw admissionError(error, as: E.self)
        }
        do throws(E) {
            let value = try await operation()
            permit.release()
            return value
        } catch {
            permit.release()
            throw PolicyError.passing(error)
        }
    }
}

extension EventName {
    /// A caller waits for a place. Fields: `label`, `waiting`, how many wait now.
    public static let bulkheadQueued = EventName("bulkhead.queued")
    /// A caller that waited has its place. Fields: `label`, `for`.
    public static let bulkheadWaited = EventName("bulkhead.waited")
    /// A caller got no place: the line was full, or its wait too long. Fields: `label`, `reason`.
    public static let bulkheadRejected = EventName("bulkhead.rejected")
}
