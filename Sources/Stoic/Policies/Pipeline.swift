/// The policies around one dependency, always in this order, from the outside in: deadline of the
/// whole, bulkhead, retry, rate limit, breaker, deadline of an attempt, operation.
///
/// The order of the calls that build it does not matter. It is fixed because other orders are
/// mistakes that look right: a place in the bulkhead for each attempt lets a retry starve its own
/// caller; a breaker outside of the retry sees one failure where there were three; a deadline
/// outside of the breaker looks like a cancellation to it. Nest the policies by hand where you need
/// another one.
///
/// ```swift
/// let payments = Pipeline()
///     .deadline(.seconds(30)).bulkhead(Bulkhead("payments", limit: 16))
///     .retry(attempts: 3).breaker(CircuitBreaker("payments")).attemptDeadline(.seconds(10))
/// let receipt = try await payments.run { try await pay(order) }
/// ```
public struct Pipeline: Sendable {
    private var deadline: Duration?
    private var bulkhead: Bulkhead?
    private var retries: Retries?
    private var rateLimit: RateLimiter?
    private var breaker: CircuitBreaker?
    private var attemptDeadline: Duration?

    private struct Retries: Sendable {
        let schedule: Schedule
        let attempts: Int
        let budget: BudgetChoice
        let when: @Sendable (any Error) -> RetryDecision
        let site: (file: String, line: Int)

        /// Refusals are decided here, for all callers alike; the caller decides about the
        /// operation's own errors, and sees them without layers.
        func decide(_ error: any Error) -> RetryDecision {
            if Rejection(in: error) != nil { return Classifier.default(error) }
            return when(innermostError(error))
        }
    }

    /// A pipeline that only runs the operation.
    public init() {}

    /// Bounds the whole: waits, attempts and the delays between them.
    public func deadline(_ limit: Duration) -> Pipeline { with { $0.deadline = limit } }

    /// Bounds how many run at once; a retry keeps its place between attempts.
    public func bulkhead(_ bulkhead: Bulkhead) -> Pipeline { with { $0.bulkhead = bulkhead } }

    /// Repeats what may pass, as `retry` does.
    ///
    /// Refused attempts are repeated as well if their time may come: after the delay a rate limiter
    /// names, but never while a breaker is open.
    /// - Parameters:
    ///   - schedule: The delays between attempts.
    ///   - attempts: How many there are in all, the first one included: 1...10,000.
    ///   - budget: What limits the retries of all callers together.
    ///   - when: What to do about the operation's own error.
    public func retry(
        _ schedule: Schedule = .standard, attempts: Int = 3,
        budget: BudgetChoice = .ambient(), file: String = #fileID, line: Int = #line,
        when: @escaping @Sendable (any Error) -> RetryDecision = { Classifier.default($0) }
    ) -> Pipeline {
        with {
            $0.retries = Retries(
                schedule: schedule, attempts: attempts, budget: budget, when: when,
                site: (file, line))
        }
    }

    /// Bounds the rate of attempts.
    public func rateLimit(_ limiter: RateLimiter) -> Pipeline { with { $0.rateLimit = limiter } }

    /// Spares a dependency that is ill; it hears of every attempt.
    public func breaker(_ breaker: CircuitBreaker) -> Pipeline { with { $0.breaker = breaker } }

    /// Bounds each attempt.
    public func attemptDeadline(_ limit: Duration) -> Pipeline {
        with { $0.attemptDeadline = limit }
    }

    private func with(_ change: (inout Pipeline) -> Void) -> Pipeline {
        var copy = self
        change(&copy)
        return copy
    }

    /// Runs `operation` within all that was added.
    ///
    /// - Parameters:
    ///   - clock: Whose time waits and deadlines take; the ambient clock unless given. Breaker and
    ///     rate limiter have their own.
    ///   - operation: Runs on the caller's actor; several times, if there is a retry.
    /// - Throws: `PolicyError<E>`: `.rejected` by one of the policies, or `.failed` with what the
    ///   last attempt threw, or with `DeadlineExceeded` (whatever `E` is) if a deadline cut it. A
    ///   `PolicyError` the operation throws, and `CancellationError`, as they are.
    public nonisolated(nonsending) func run<R, E: Error>(
        clock: (any Clock<Duration>)? = nil,
        _ operation: nonisolated(nonsending) () async throws(E) -> R
    ) async throws -> R {
        // Erased once, so that all layers mean the same time and can compare their deadlines.
        let clock = AnyClock.given(clock)
        do {
            guard let deadline else { return try await admitted(clock, operation) }
            return try await withTimeout(deadline, clock: clock) { () async throws -> R in
                try await admitted(clock, operation)
            }
        } catch {
            throw typed(error, as: E.self)
        }
    }

    private nonisolated(nonsending) func admitted<R, E: Error>(
        _ clock: AnyClock, _ operation: nonisolated(nonsending) () async throws(E) -> R
    ) async throws -> R {
        guard let bulkhead else { return try await tried(clock, operation) }
        return try await bulkhead.run(clock: clock) { () async throws -> R in
            try await tried(clock, operation)
        }
    }

    private nonisolated(nonsending) func tried<R, E: Error>(
        _ clock: AnyClock, _ operation: nonisolated(nonsending) () async throws(E) -> R
    ) async throws -> R {
        guard let retries else { return try await limited(clock, operation) }
        return try await Stoic::retry(
            retries.schedule, attempts: retries.attempts, budget: retries.budget.current,
            clock: clock,
            file: retries.site.file, line: retries.site.line, when: retries.decide
        ) { (_: Attempt) async throws -> R in
            try await limited(clock, operation)
        }
    }

    private nonisolated(nonsending) func limited<R, E: Error>(
        _ clock: AnyClock, _ operation: nonisolated(nonsending) () async throws(E) -> R
    ) async throws -> R {
        guard let rateLimit else { return try await guarded(clock, operation) }
        return try await rateLimit.run { () async throws -> R in
            try await guarded(clock, operation)
        }
    }

    private nonisolated(nonsending) func guarded<R, E: Error>(
        _ clock: AnyClock, _ operation: nonisolated(nonsending) () async throws(E) -> R
    ) async throws -> R {
        guard let breaker else { return try await attempt(clock, operation) }
        return try await breaker.run { () async throws -> R in
            try await attempt(clock, operation)
        }
    }

    private nonisolated(nonsending) func attempt<R, E: Error>(
        _ clock: AnyClock, _ operation: nonisolated(nonsending) () async throws(E) -> R
    ) async throws -> R {
        guard let attemptDeadline else {
            do throws(E) { return try await operation() } catch {
                throw PolicyError.passing(error)
            }
        }
        return try await withTimeout(attemptDeadline, clock: clock) { () async throws(E) -> R in
            try await operation()
        }
    }

    /// The layers pass any error on; what comes out of all of them has the operation's type again.
    private func typed<E: Error>(_ error: any Error, as failure: E.Type) -> any Error {
        guard let untyped = error as? PolicyError<any Error> else { return error }
        switch untyped {
        case .rejected(let rejection): return rejected(rejection, as: failure)
        case .failed(let own as E): return PolicyError<E>.failed(own)
        case .failed(let exceeded as DeadlineExceeded):
            return PolicyError<DeadlineExceeded>.failed(exceeded)
        case .failed: return error
        }
    }
}
