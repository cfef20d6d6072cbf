/// Runs `operation`, on the caller's actor, and again while it fails in a way that may pass.
///
/// What comes out is the operation's own: its value, or the error of its last attempt. Between
/// attempts it waits as `schedule` says; it waits for nothing it can know to be in vain: if the
/// delay reaches the deadline around the call, or the budget is empty, it gives up at once. The
/// first attempt always runs. Cancellation and defects are never tried again, whatever `when` says.
///
/// A retry always ends: there is no number of attempts that means "for ever". Work that has to run
/// for ever has a supervisor.
///
/// ```swift
/// let page = try await retry { _ in try await client.fetch(url) }
/// let row = try await retry(.spaced(.milliseconds(20)), attempts: 5) { attempt in
///     try await store.read("cart", stale: attempt.isLast)
/// }
/// ```
/// - Parameters:
///   - schedule: The delays between attempts; 100 ms × 2 up to 20 s with full jitter unless given.
///     It may end before the attempts do.
///   - attempts: How many there are in all, the first one included: 1...10,000.
///   - budget: What limits the retries of all callers together; `nil` for nothing. Otherwise the
///     ambient budget named "default".
///   - attemptTimeout: How long one attempt may run before it is cancelled. An attempt that was
///     cut counts as failed in a way that may pass; if it left nothing but its cancellation, its
///     error is `DeadlineExceeded` where the error type can hold that.
///   - longestRetryAfter: What a delay that `when` names is cut to.
///   - clock: Whose time counts for delays and attempts; the ambient clock unless given.
///   - when: What to do about an error; `Classifier.default` unless given.
///   - operation: What is tried. Each attempt sees the cancellation of the caller.
/// - Throws: The error of the last attempt. If the caller is cancelled, `CancellationError` where
///   the error type can hold it.
public nonisolated(nonsending) func retry<R, E: Error>(
    _ schedule: Schedule = .standard, attempts: Int = 3,
    budget: RetryBudget? = .ambientDefault, attemptTimeout: Duration? = nil,
    longestRetryAfter: Duration = .seconds(60), clock: (any Clock<Duration>)? = nil,
    file: String = #fileID, line: Int = #line,
    when: (E) -> RetryDecision = Classifier.default,
    operation: nonisolated(nonsending) (Attempt) async throws(E) -> R
) async throws(E) -> R {
    let context = Context.current
    let rules = RetryRun.Rules(
        schedule: schedule, attempts: attempts, budget: budget,
        longestRetryAfter: longestRetryAfter)
    var run = RetryRun(
        rules, clock: clock.map { AnyClock($0) } ?? context.ambient.clock, in: context,
        random: context.ambient.random.stream(file: file, line: line))
    while true {
        let attempt = run.begin()
        let outcome = await run.perform(timeout: attemptTimeout) { () async throws(E) -> R in
            try await operation(attempt)
        }
        let failure: E
        switch outcome.result {
        case .success(let value):
            run.succeeded()
            return value
        case .failure(let error):
            failure = outcome.isCut ? exceeded(error, attemptTimeout) : error
        }
        if Task.isCancelled {
            run.gaveUp(Classifier.isDefect(failure) ? .defect : .cancelled, failure)
            throw cancelled(or: failure)
        }
        let isFinal = Classifier.isFinal(failure) && !(outcome.isCut && isCancellation(failure))
        let decision = isFinal ? .giveUp : outcome.isCut ? .retry : when(failure)
        guard let delay = run.delay(after: failure, decision, isCut: outcome.isCut) else {
            throw failure
        }
        guard await run.wait(delay) else {
            run.gaveUp(.cancelled, failure)
            throw cancelled(or: failure)
        }
    }
}

/// The error of an attempt that was cut by its own deadline.
private func exceeded<E: Error>(_ error: E, _ limit: Duration?) -> E {
    guard isCancellation(error), let limit else { return error }
    return DeadlineExceeded(limit: limit.clamped) as? E ?? error
}

private func isCancellation(_ error: some Error) -> Bool { error is CancellationError }

/// What a retry throws whose caller is cancelled.
private func cancelled<E: Error>(or error: E) -> E { CancellationError() as? E ?? error }
