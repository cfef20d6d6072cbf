/// In which order results come.
public enum ResultOrder: Hashable, Sendable {
    /// As the elements.
    case input
    /// As the work on them ended.
    case completion
}

/// What a failure means for the work beside it.
public enum FailureMode: Hashable, Sendable {
    /// It is cancelled, with the cause `siblingFailed`, and no more is begun.
    case cancelSiblings
    /// It goes on; all failures are thrown at the end.
    case collect
}

/// Applies `transform` to every element, at most `limit` at a time, and returns all results.
///
/// The next element is taken from the sequence only when there is room for it. Cancelled work is
/// awaited before this returns; who ignores that for longer than `losersWithin` is left behind:
/// counted by the scope around the call, at most 64 in a process, and reported.
///
/// ```swift
/// let pages = try await mapConcurrent(urls, limit: 8) { url in try await client.fetch(url) }
/// ```
/// - Parameters:
///   - elements: What to work on; iterated on the caller's actor.
///   - limit: How many run at a time; at least 1. There is no default that fits everybody.
///   - order: In which order the results come.
///   - onFailure: What a failure means for the rest.
///   - losersWithin: How long cancelled work is awaited; 5 seconds unless given.
///   - clock: Whose time bounds that wait; the ambient clock unless given.
///   - transform: Runs beside the caller, not on its actor.
/// - Throws: `ConcurrentFailure<E>` with every failure in the order they came; the cancellations of
///   siblings are none. `CancellationError` alone if the caller is cancelled first, or if
///   `transform` ended with nothing but that.
/// - Complexity: O(`limit`) memory beside the results.
public nonisolated(nonsending) func mapConcurrent<S: Sequence, R: Sendable, E: Error>(
    _ elements: S, limit: Int, order: ResultOrder = .input,
    onFailure: FailureMode = .cancelSiblings, losersWithin: Duration = .seconds(5),
    clock: (any Clock<Duration>)? = nil,
    _ transform: @escaping @Sendable (S.Element) async throws(E) -> R
) async throws -> [R] where S.Element: Sendable {
    let crew = Crew<R, E>(
        "mapConcurrent", limit: limit, onFailure: onFailure, losersWithin: losersWithin,
        clock: clock)
    switch order {
    case .completion:
        var results: [R] = []
        try await crew.work(on: elements, transform) { _, value in results.append(value) }
        return results
    case .input:
        var results: [R?] = []
        try await crew.work(on: elements, transform) { index, value in
            while results.count <= index { results.append(nil) }
            results[index] = value
        }
        return results.compactMap { $0 }
    }
}

/// Applies `body` to every element, at most `limit` at a time.
///
/// As `mapConcurrent`, without results.
///
/// ```swift
/// try await forEachConcurrent(files, limit: 4) { file in try await upload(file) }
/// ```
/// - Parameters:
///   - elements: What to work on; iterated on the caller's actor.
///   - limit: How many run at a time; at least 1. There is no default that fits everybody.
///   - onFailure: What a failure means for the rest.
///   - losersWithin: How long cancelled work is awaited; 5 seconds unless given.
///   - clock: Whose time bounds that wait; the ambient clock unless given.
///   - body: Runs beside the caller, not on its actor.
/// - Throws: As `mapConcurrent`.
/// - Complexity: O(`limit`) memory.
public nonisolated(nonsending) func forEachConcurrent<S: Sequence, E: Error>(
    _ elements: S, limit: Int, onFailure: FailureMode = .cancelSiblings,
    losersWithin: Duration = .seconds(5), clock: (any Clock<Duration>)? = nil,
    _ body: @escaping @Sendable (S.Element) async throws(E) -> Void
) async throws where S.Element: Sendable {
    let crew = Crew<Void, E>(
        "forEachConcurrent", limit: limit, onFailure: onFailure, losersWithin: losersWithin,
        clock: clock)
    try await crew.work(on: elements, body) { _, _ in }
}

/// Those who work on the elements of one call.
struct Crew<R: Sendable, E: Error> {
    private let label: String
    private let limit: Int
    private let losersWithin: Duration
    private let siblings: Siblings<R, E>

    /// - Precondition: `limit` is at least 1.
    init(
        _ label: String, limit: Int, onFailure: FailureMode, losersWithin: Duration,
        clock: (any Clock<Duration>)?
    ) {
        precondition(limit >= 1, "at least one runs at a time")
        self.label = label
        self.limit = limit
        self.losersWithin = losersWithin
        siblings = Siblings(label, clock: clock) { result in
            switch (result, onFailure) {
            case (.failure, .cancelSiblings): .siblingFailed
            case (.success, _), (.failure, .collect): nil
            }
        }
    }

    /// - Parameter take: Gets each value with the place of its element, as they end.
    nonisolated(nonsending) func work<S: Sequence>(
        on elements: S, _ body: @escaping @Sendable (S.Element) async throws(E) -> R,
        take: (Int, R) -> Void
    ) async throws where S.Element: Sendable {
        try Task.checkCancellation()
        var outcome = Outcome<R, E>()
        var iterator = elements.makeIterator()
        var begun = 0
        var running = 0
        while true {
            while running < limit, !siblings.isStopped, let element = iterator.next() {
                let isBegun = siblings.start(begun) { () async throws(E) -> R in
                    try await body(element)
                }
                guard isBegun else { break }
                begun += 1
                running += 1
            }
            guard let ended = await siblings.next() else { break }
            running -= 1
            outcome.note(ended, take)
        }
        await siblings.settle(within: losersWithin)
        for ended in siblings.takeEnded() { outcome.note(ended, take) }
        try conclude(outcome, begun: begun)
    }

    private func conclude(_ outcome: Outcome<R, E>, begun: Int) throws {
        let cause = siblings.cause.own
        if let cause, cause != .siblingFailed { throw CancellationError() }
        let failure = ConcurrentFailure(outcome.failures)
        if cause != nil {
            emit(
                .mapCancelledSiblings, .notice,
                [
                    .init("in", label), .init("begun", begun),
                    .init("failures", outcome.failures.count),
                    .init("error", failure.map { "\($0.primary)" } ?? "cancelled"),
                ])
        }
        if let failure { throw failure }
        if outcome.hasOwnCancellation { throw CancellationError() }
    }
}

extension Outcome {
    fileprivate mutating func note(_ ended: Siblings<R, E>.Ended, _ take: (Int, R) -> Void) {
        guard case .success(let value) = ended.result else { return note(ended) }
        take(ended.index, value)
    }
}

extension EventName {
    /// A failure ended work on many elements: what ran beside it was cancelled, the rest not begun.
    /// Fields: `in`, `begun`, `failures`, `error` (the first).
    public static let mapCancelledSiblings = EventName("map.cancelledSiblings")
}
