/// Asks a second time when the first answer is slow, and takes whichever comes first: a cure for
/// the slowest few of many calls.
///
/// Only for operations that may run twice without harm. A second call is paid from the retry
/// budget, so that a dependency that is slow for everybody does not get twice the load.
///
/// ```swift
/// let hedge = Hedge("search", after: .milliseconds(300))
/// let hits = try await hedge.run { try await index.find("shoes") }
/// ```
public struct Hedge: Sendable {
    /// What it is about, in events.
    public let label: String
    /// How long the first call may take before there is a second.
    public let delay: Duration
    private let budget: BudgetChoice
    private let losersWithin: Duration

    /// - Parameters:
    ///   - label: What it is about, in events.
    ///   - delay: How long the first call may take before there is a second. What 95 of 100 calls
    ///     stay below is a good choice; 2 seconds unless given.
    ///   - budget: What pays for second calls.
    ///   - losersWithin: How long the call that lost may take to end after its cancellation; then
    ///     it is left behind, counted and reported.
    public init(
        _ label: String = "hedge", after delay: Duration = .seconds(2),
        budget: BudgetChoice = .ambient(), losersWithin: Duration = .seconds(5)
    ) {
        self.label = label
        self.delay = max(delay, .zero).clamped
        self.budget = budget
        self.losersWithin = losersWithin
    }

    /// Runs `operation`, and once more beside it if it is slow; what loses is cancelled and
    /// awaited.
    ///
    /// A failure before the delay is thrown at once: hedging is no retry. If both calls run, the
    /// first value counts, and only if both fail the error that came first.
    /// - Parameters:
    ///   - clock: Whose time the delay takes; the ambient clock unless given.
    ///   - operation: Runs beside the caller, not on its actor.
    /// - Throws: `PolicyError<E>.failed` with what `operation` threw. A `PolicyError` of a policy
    ///   within, and `CancellationError`, as they are.
    public nonisolated(nonsending) func run<R: Sendable, E: Error>(
        clock: (any Clock<Duration>)? = nil,
        _ operation: @escaping @Sendable () async throws(E) -> R
    ) async throws -> R {
        try Task.checkCancellation()
        let budget = budget.current
        budget?.noteRequest()
        let siblings = Siblings<R, any Error>(label, clock: clock) { result in
            switch result {
            case .success: .siblingWon
            case .failure: nil
            }
        }
        let first = Completion<Bool>()
        let second = Completion<Bool>()
        let slow = Deadline.in(delay, clock: AnyClock.given(clock))
        _ = siblings.start(0) { () async throws -> R in
            defer { first.fulfil(true) }
            return try await passing(operation)
        }
        _ = siblings.start(1) { [self] () async throws -> R in
            guard await first.wait(for: Site("the first call"), until: slow) == nil,
                !Task.isCancelled, mayBegin(budget)
            else { throw NotNeeded() }
            second.fulfil(true)
            return try await passing(operation)
        }
        var ends: [Siblings<R, any Error>.Ended] = []
        while let ended = await siblings.next() { ends.append(ended) }
        await siblings.settle(within: losersWithin)
        ends += siblings.takeEnded()
        let (index, value) = try verdict(ends, isStopped: siblings.isStopped)
        if second.value == nil {
            budget?.rewardSuccess()
        } else {
            emit(
                .hedgeWon, .info,
                [.init("label", label), .init("by", index == 0 ? "first" : "second")])
        }
        return value
    }

    /// The first value, with the place of its call; or else the first failure.
    private func verdict<R: Sendable>(
        _ ends: [Siblings<R, any Error>.Ended], isStopped: Bool
    ) throws -> (Int, R) {
        var failure: (any Error)?
        for ended in ends {
            switch ended.result {
            case .success(let value):
                if ended.isInTime { return (ended.index, value) }
            case .failure(let error):
                if failure == nil, !(error is NotNeeded), !(error is CancellationError) {
                    failure = error
                }
            }
        }
        // Without a value only the caller can have stopped them.
        throw isStopped ? CancellationError() : failure ?? CancellationError()
    }

    private func mayBegin(_ budget: RetryBudget?) -> Bool {
        let fields: [Event.Field] = [.init("label", label), .init("after", delay)]
        if let budget, budget.withdraw(afterTimeout: false) == nil {
            emit(.hedgeRefused, .notice, fields)
            return false
        }
        emit(.hedgeStarted, .info, fields)
        return true
    }
}

/// The second call was not made.
private struct NotNeeded: Error {}

/// Runs `operation`, whose error becomes that of a policy.
private func passing<R, E: Error>(
    _ operation: @Sendable () async throws(E) -> R
) async throws -> R {
    do throws(E) { return try await operation() } catch { throw PolicyError.passing(error) }
}

extension EventName {
    /// A first call is slow, and a second begins. Fields: `label`, `after`.
    public static let hedgeStarted = EventName("hedge.started")
    /// Of two calls, one gave the value. Fields: `label`, `by` ("first" or "second").
    public static let hedgeWon = EventName("hedge.won")
    /// A first call is slow, and the retry budget has nothing left for a second. Fields: `label`,
    /// `after`.
    public static let hedgeRefused = EventName("hedge.refused")
}
