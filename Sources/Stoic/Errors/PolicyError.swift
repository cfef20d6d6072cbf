/// What a policy throws: its own refusal, or the operation's failure, untouched.
///
/// An operation that throws a `PolicyError` itself passes through every policy around it as it is,
/// so that nested policies have one layer. Cancellation is neither: it stays `CancellationError`.
///
/// ```swift
/// do {
///     try await breaker.run { try await pay(order) }
/// } catch PolicyError<any Error>.rejected(let rejection) {
///     show("not now: \(rejection)")      // it never ran
/// } catch PolicyError<any Error>.failed(let error) {
///     show("not paid: \(error)")         // it ran
/// }
/// ```
public enum PolicyError<Failure: Error>: Error {
    /// The operation never ran, or was abandoned.
    case rejected(Rejection)
    /// The operation ran and failed.
    case failed(Failure)
}

extension PolicyError: Equatable where Failure: Equatable {}

extension PolicyError {
    /// What a policy throws for an operation that failed with `error`.
    ///
    /// An error that is a `PolicyError` itself, and cancellation, pass as they are; anything else
    /// is `.failed`.
    static func passing(_ error: Failure) -> any Error {
        if error is any AnyPolicyError || error is CancellationError { return error }
        return PolicyError.failed(error)
    }
}

/// Why a policy did not run an operation, or left it.
///
/// New cases may be added; a `switch` over it needs a default.
public enum Rejection: Hashable, Sendable {
    /// The circuit breaker is open; `retryAfter` is when it lets a probe through.
    case breakerOpen(retryAfter: Duration)
    /// All places and all waiting places of a bulkhead or semaphore are taken.
    case bulkheadFull
    /// No place became free within the longest wait.
    case bulkheadTimeout
    /// The rate is used up; `retryAfter` is when the next token is there.
    case rateLimited(retryAfter: Duration)
    /// The retry budget is empty.
    case budgetExhausted
    /// The deadline had passed before the operation began.
    case deadlinePassed
    /// The operation ignored its cancellation and was left behind.
    case abandoned
    /// What should run it is stopping.
    case shuttingDown
}

/// What work throws that was cut by its deadline and said nothing but that it was cancelled.
public struct DeadlineExceeded: Error, Hashable, Sendable {
    /// How long the work was given.
    public let limit: Duration

    /// Work that was given `limit`.
    public init(limit: Duration) { self.limit = limit }
}

/// A programming error that is thrown: never retried, never replaced by a fallback, always reported
/// at error level.
///
/// ```swift
/// struct NegativeAmount: Defect { let amount: Int }
/// ```
public protocol Defect: Error {}

/// How something ended, told to whatever cleans up after it.
public enum Exit: Sendable {
    /// It came to its end.
    case success
    /// It failed.
    case failure(any Error)
    /// It was cancelled.
    case cancelled(CancellationCause)
}
