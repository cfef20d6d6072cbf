/// What to do after a failed attempt.
public enum RetryDecision: Hashable, Sendable {
    /// Try again after the schedule's delay.
    case retry
    /// Try again after this delay instead, as the other side asked; bounded by the caller.
    case retryAfter(Duration)
    /// Try no more.
    case giveUp
}

/// An error that knows whether trying again can help: a catalogue of error codes, or your own type.
///
/// ```swift
/// enum StoreError: Error { case busy, missing }
/// extension StoreError: Classified { var isTransient: Bool { self == .busy } }
/// ```
public protocol Classified: Error {
    /// Whether the same call may succeed a moment later.
    var isTransient: Bool { get }
    /// When the other side asked to be called again, if it did.
    var retryAfter: Duration? { get }
}

extension Classified {
    /// The other side did not say.
    public var retryAfter: Duration? { nil }
}

/// What is worth another attempt.
public enum Classifier {
    /// The decision for an error of which nothing else is known.
    ///
    /// Cancellation and defects: never. An error that is `Classified` says it itself. A refusal by
    /// a policy: again if the place or the time may come (`bulkheadFull`, `bulkheadTimeout`,
    /// `rateLimited` after its delay); never if it means that the dependency, or we, have to be
    /// left alone (`breakerOpen`, `shuttingDown`, `deadlinePassed`, `budgetExhausted`), or that the
    /// work still runs (`abandoned`). Of several failures the most final decides. Everything else:
    /// again.
    public static func `default`<E: Error>(_ error: E) -> RetryDecision {
        if isFinal(error) { return .giveUp }
        if let classified = error as? any Classified {
            guard classified.isTransient else { return .giveUp }
            return classified.retryAfter.map { .retryAfter($0) } ?? .retry
        }
        guard let composed = error as? any ComposedError else { return .retry }
        let decisions = composed.causes.map { decision(any: $0) }
        return decisions.reduce(composed.ownDecision) { $0.combined(with: $1) }
    }

    /// What no rule of a caller makes worth another attempt: cancellation and defects, also inside
    /// of the errors of this library.
    static func isFinal(_ error: any Error) -> Bool {
        if error is CancellationError || error is any Defect { return true }
        guard let composed = error as? any ComposedError else { return false }
        return composed.causes.contains { isFinal($0) }
    }

    /// Whether `error` is, or holds, a defect.
    static func isDefect(_ error: any Error) -> Bool {
        if error is any Defect { return true }
        guard let composed = error as? any ComposedError else { return false }
        return composed.causes.contains { isDefect($0) }
    }

    /// Whether `error` says that the work was cut by a deadline.
    static func isTimeout(_ error: any Error) -> Bool {
        if error is DeadlineExceeded { return true }
        guard let composed = error as? any ComposedError else { return false }
        return composed.causes.contains { isTimeout($0) }
    }

    private static func decision(any error: any Error) -> RetryDecision { `default`(error) }
}

extension RetryDecision {
    /// The more final of two.
    fileprivate func combined(with other: RetryDecision) -> RetryDecision {
        switch (self, other) {
        case (.giveUp, _), (_, .giveUp): .giveUp
        case (.retryAfter(let one), .retryAfter(let two)): .retryAfter(max(one, two))
        case (.retryAfter, .retry): self
        case (.retry, .retryAfter), (.retry, .retry): other
        }
    }
}

/// An error of this library that holds others, whatever their type.
protocol ComposedError: Error {
    /// The errors it holds.
    var causes: [any Error] { get }
    /// What it decides by itself.
    var ownDecision: RetryDecision { get }
}

extension PolicyError: ComposedError {
    var causes: [any Error] {
        switch self {
        case .rejected: []
        case .failed(let failure): [failure]
        }
    }

    var ownDecision: RetryDecision {
        guard case .rejected(let rejection) = self else { return .retry }
        return switch rejection {
        case .bulkheadFull, .bulkheadTimeout: .retry
        case .rateLimited(let delay): .retryAfter(delay)
        case .breakerOpen, .budgetExhausted, .deadlinePassed, .abandoned, .shuttingDown: .giveUp
        }
    }
}

extension ConcurrentFailure: ComposedError {
    var causes: [any Error] { all }
    var ownDecision: RetryDecision { .retry }
}
