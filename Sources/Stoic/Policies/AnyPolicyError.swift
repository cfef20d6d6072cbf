/// A `PolicyError` of whatever failure: how one policy knows the error of another.
protocol AnyPolicyError: Error {
    /// The refusal it is, if it is one.
    var rejection: Rejection? { get }
    /// The operation's failure it is, if it is one.
    var underlying: (any Error)? { get }
    /// The same type's error for another refusal.
    static func rejecting(_ rejection: Rejection) -> any Error
}

extension PolicyError: AnyPolicyError {
    /// Why the operation was not run or was left, or `nil` if it ran and failed.
    public var rejection: Rejection? {
        switch self {
        case .rejected(let rejection): rejection
        case .failed: nil
        }
    }

    var underlying: (any Error)? {
        switch self {
        case .rejected: nil
        case .failed(let failure): failure
        }
    }

    static func rejecting(_ rejection: Rejection) -> any Error { Self.rejected(rejection) }
}

extension Rejection {
    /// The refusal in `error`, if that is a `PolicyError` of whatever failure.
    ///
    /// For callers that let the compiler infer the failure type of their closures:
    /// ```swift
    /// do { try await breaker.run { try await client.fetch() } } catch {
    ///     if case .breakerOpen(let wait)? = Rejection(in: error) { show("again in \(wait)") }
    /// }
    /// ```
    public init?(in error: any Error) {
        guard let rejection = (error as? any AnyPolicyError)?.rejection else { return nil }
        self = rejection
    }
}

/// What a policy throws instead of running an operation that would throw `E`. If that is itself
/// the error of a policy, there is still only one layer.
func rejected<E: Error>(_ rejection: Rejection, as failure: E.Type) -> any Error {
    if let policy = failure as? any AnyPolicyError.Type { return policy.rejecting(rejection) }
    return PolicyError<E>.rejected(rejection)
}

/// What a waiting policy throws for what its wait threw, before it has run an operation that would
/// throw `E`: a wait that the deadline around it ended says so, since nothing has run.
func admissionError<E: Error>(_ error: any Error, as failure: E.Type) -> any Error {
    if let rejection = Rejection(in: error) { return rejected(rejection, as: failure) }
    if Cancellation.cause == .deadlineExpired, Deadline.current?.hasPassed == true {
        return rejected(.deadlinePassed, as: failure)
    }
    return error
}

/// The operation's own error within the errors of policies.
func innermostError(_ error: any Error) -> any Error {
    (error as? any AnyPolicyError)?.underlying ?? error
}
