/// Runs two operations side by side and returns the first value; a failure does not end the race.
///
/// The others are cancelled (their cause is `siblingWon`) and awaited before this returns, so that
/// nothing of them is left running. Who ignores that for longer than `losersWithin` is left behind:
/// counted by the scope around the call, at most 64 in a process, and reported when it ends after
/// all. The value of a loser that succeeds as well is dropped.
///
/// ```swift
/// let page = try await race({ try await primary.fetch() }, { try await mirror.fetch() })
/// ```
/// - Parameters:
///   - first: Runs beside the caller, not on its actor.
///   - second: As the first.
///   - losersWithin: How long the cancelled ones are awaited; 5 seconds unless given.
///   - clock: Whose time bounds that wait; the ambient clock unless given.
/// - Throws: `ConcurrentFailure<E>` with every failure, in the order they came, if all fail;
///   `CancellationError` if the caller is cancelled before there is a winner, or if every operation
///   ended with nothing but that.
public nonisolated(nonsending) func race<R: Sendable, E: Error>(
    _ first: @escaping @Sendable () async throws(E) -> R,
    _ second: @escaping @Sendable () async throws(E) -> R,
    losersWithin: Duration = .seconds(5), clock: (any Clock<Duration>)? = nil
) async throws -> R {
    try await run([Runner(first), Runner(second)], losersWithin: losersWithin, clock: clock)
}

/// Runs three operations side by side and returns the first value.
///
/// - Parameters:
///   - first: Runs beside the caller, not on its actor.
///   - second: As the first.
///   - third: As the first.
///   - losersWithin: How long the cancelled ones are awaited; 5 seconds unless given.
///   - clock: Whose time bounds that wait; the ambient clock unless given.
/// - Throws: As the race of two.
public nonisolated(nonsending) func race<R: Sendable, E: Error>(
    _ first: @escaping @Sendable () async throws(E) -> R,
    _ second: @escaping @Sendable () async throws(E) -> R,
    _ third: @escaping @Sendable () async throws(E) -> R,
    losersWithin: Duration = .seconds(5), clock: (any Clock<Duration>)? = nil
) async throws -> R {
    try await run(
        [Runner(first), Runner(second), Runner(third)], losersWithin: losersWithin, clock: clock)
}

/// Runs `operation` on every element side by side, all at once, and returns the first value.
///
/// ```swift
/// let page = try await race(mirrors) { mirror in try await mirror.fetch(path) }
/// ```
/// - Parameters:
///   - elements: At least one.
///   - losersWithin: How long the cancelled ones are awaited; 5 seconds unless given.
///   - clock: Whose time bounds that wait; the ambient clock unless given.
///   - operation: Runs beside the caller, not on its actor.
/// - Throws: As the race of two.
/// - Precondition: There is an element.
public nonisolated(nonsending) func race<T: Sendable, R: Sendable, E: Error>(
    _ elements: [T], losersWithin: Duration = .seconds(5), clock: (any Clock<Duration>)? = nil,
    _ operation: @escaping @Sendable (T) async throws(E) -> R
) async throws -> R {
    let runners = elements.map { element in
        Runner { () async throws(E) -> R in try await operation(element) }
    }
    return try await run(runners, losersWithin: losersWithin, clock: clock)
}

/// One operation of several.
///
/// A list of functions that throw a generic type is miscompiled by Swift 6.3.1: a caller's closure
/// and our call of it disagree on where the error is. A list of values that hold one is not.
struct Runner<R: Sendable, E: Error>: Sendable {
    let run: @Sendable () async throws(E) -> R
    init(_ run: @escaping @Sendable () async throws(E) -> R) { self.run = run }
}

private nonisolated(nonsending) func run<R: Sendable, E: Error>(
    _ runners: [Runner<R, E>], losersWithin: Duration, clock: (any Clock<Duration>)?
) async throws -> R {
    precondition(!runners.isEmpty, "a race has somebody who runs")
    try Task.checkCancellation()
    let siblings = Siblings<R, E>("race", clock: clock) { result in
        switch result {
        case .success: .siblingWon
        case .failure: nil
        }
    }
    for (index, runner) in runners.enumerated() {
        guard siblings.start(index, runner.run) else { break }
    }
    var outcome = Outcome<R, E>()
    while let ended = await siblings.next() { outcome.note(ended) }
    await siblings.settle(within: losersWithin)
    for ended in siblings.takeEnded() { outcome.note(ended) }
    if let winner = outcome.first {
        emit(
            .raceWon, .info,
            [
                .init("winner", winner.index), .init("of", runners.count),
                .init("failures", outcome.failures.count),
            ])
        return winner.value
    }
    if siblings.isStopped { throw CancellationError() }
    if let failure = ConcurrentFailure(outcome.failures) {
        emit(
            .raceLost, .notice,
            [.init("of", runners.count), .init("error", describing: failure.primary)])
        throw failure
    }
    throw CancellationError()
}

/// What came of children.
struct Outcome<R: Sendable, E: Error> {
    /// The first that succeeded before anybody was told to stop.
    private(set) var first: Siblings<R, E>.Value?
    /// In the order they came; cancellations are none.
    private(set) var failures: [E] = []
    /// Whether a child ended with a cancellation that was its own.
    private(set) var hasOwnCancellation = false

    mutating func note(_ ended: Siblings<R, E>.Ended) {
        switch ended.result {
        case .success(let value):
            if ended.isInTime, first == nil {
                first = Siblings.Value(index: ended.index, value: value)
            }
        case .failure(let error) where error is CancellationError:
            if ended.isInTime { hasOwnCancellation = true }
        case .failure(let error):
            failures.append(error)
        }
    }
}

extension EventName {
    /// Somebody won a race. Fields: `winner` (its place in the list), `of`, `failures`.
    public static let raceWon = EventName("race.won")
    /// Nobody won a race: all failed. Fields: `of`, `error` (of the first to fail).
    public static let raceLost = EventName("race.lost")
    /// Work beside other work threw a defect. Fields: `in`, `index`, `error`.
    public static let defectThrown = EventName("defect.thrown")
}
