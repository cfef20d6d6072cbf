/// Runs `operation`, on the caller's actor, and cancels it when `deadline` passes.
///
/// The first of the operation's end and the deadline wins. After the deadline the operation is
/// cancelled and *awaited*: what comes out is its own value or error, late as it may be. Deadlines
/// nest, and the earliest governs. An operation whose deadline has passed already still runs, but
/// cancelled from its beginning.
///
/// Why it was cancelled says `Cancellation.cause`. `Deadline.current` is the earliest deadline
/// around the work on one clock.
///
/// ```swift
/// let reply = try await withDeadline(.in(.seconds(5))) { try await client.fetch() }
/// ```
/// - Parameters:
///   - deadline: When, and on which clock; see `Deadline.in(_:clock:)`.
///   - operation: What runs in a child task of the caller. It should honour its cancellation: the
///     call takes as long as it does.
/// - Throws: What `operation` throws, also after the deadline.
public nonisolated(nonsending) func withDeadline<R, E: Error>(
    _ deadline: Deadline, operation: nonisolated(nonsending) () async throws(E) -> R
) async throws(E) -> R {
    try await deadline.run(operation).result.get()
}

/// Runs `operation`, on the caller's actor, for at most `limit`, and says whether that was enough.
///
/// Like `withDeadline`, except that an operation that was cut and threw nothing but its
/// `CancellationError` gives `DeadlineExceeded`, and that it does not run at all if `limit` is not
/// positive. Whether it was cut is decided by who cancelled it, never by the error's type: a caller
/// that cancels first gets its `CancellationError`. A value that comes late is returned.
///
/// ```swift
/// let reply = try await withTimeout(.seconds(5)) { try await client.fetch() }
/// ```
/// - Parameters:
///   - limit: How long it may run; at most a century.
///   - clock: Whose time counts; the ambient clock unless given.
///   - operation: What runs in a child task of the caller.
/// - Throws: `PolicyError<E>`: `.rejected(.deadlinePassed)` if it did not run, `.failed` with
///   `DeadlineExceeded` if it was cut, or with its own error; `CancellationError` if the caller was
///   cancelled.
public nonisolated(nonsending) func withTimeout<R, E: Error>(
    _ limit: Duration, clock: (any Clock<Duration>)? = nil,
    operation: nonisolated(nonsending) () async throws(E) -> R
) async throws -> R {
    let deadline = Deadline.in(limit, clock: clock.map { AnyClock($0) })
    if limit <= .zero {
        try Task.checkCancellation()
        deadline.reportRefused()
        throw rejected(.deadlinePassed, as: E.self)
    }
    let outcome = await deadline.run(operation)
    switch outcome.result {
    case .success(let value): return value
    case .failure(let error): throw deadline.classify(error, isCut: outcome.isCut)
    }
}

extension Deadline {
    /// Tells that work was not run because this deadline had passed.
    func reportRefused() { emit(.deadlineRefused, .notice, [.init("limit", limit)]) }

    /// What a policy throws for work that ended with `error`.
    func classify<E: Error>(_ error: E, isCut: Bool) -> any Error {
        guard isCut, error is CancellationError else { return PolicyError.passing(error) }
        let exceeded = DeadlineExceeded(limit: limit)
        // Work that can throw a `CancellationError` throws any error, or nothing but that one.
        guard let failure = exceeded as? E else {
            return PolicyError<DeadlineExceeded>.failed(exceeded)
        }
        return PolicyError.failed(failure)
    }
}

extension EventName {
    /// Work was not run because its deadline had passed. Field: `limit`.
    public static let deadlineRefused = EventName("deadline.refused")
}
