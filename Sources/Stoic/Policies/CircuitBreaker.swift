import Synchronization

/// Stops calling a dependency that mostly fails, and probes it until it answers again.
///
/// *Closed*, it counts what calls come to. Once enough of the last calls failed it is *open*: calls
/// are refused at once, which spares the caller the wait and the dependency the load. After a while
/// it is *half-open*: one caller at a time is let through as a probe; some successes in a row close
/// it, one failure opens it again for twice as long.
///
/// Share one breaker among all callers of one dependency. Its time and its randomness are the
/// ambient ones of where it is made, for ever: all its callers must mean the same time.
///
/// ```swift
/// let breaker = CircuitBreaker("payments")
/// let receipt = try await breaker.run { try await pay(order) }
/// ```
public final class CircuitBreaker: Sendable {
    /// What a breaker does with a call now.
    public enum Phase: Hashable, Sendable {
        /// Calls run.
        case closed
        /// Calls are refused; a probe may run in this time, or now if it is zero.
        case open(retryAfter: Duration)
        /// Probes run, other calls are refused.
        case halfOpen
    }

    /// What it protects, for events.
    public let label: String
    private let clock: AnyClock
    private let counts: @Sendable (any Error) -> Bool
    private let core: Mutex<BreakerCore>

    /// - Parameters:
    ///   - label: What it protects, for events.
    ///   - settings: When it opens and closes.
    ///   - clock: Whose time it lives in; the ambient clock unless given.
    ///   - countsAsFailure: Which errors of an operation tell that the dependency is ill; all
    ///     unless given. Leave out what the client did wrong. It gets the operation's own error,
    ///     without the layers of policies. Refusals, cancellation and defects never count; an
    ///     operation that its deadline cut always does.
    public init(
        _ label: String, _ settings: Settings = Settings(), clock: (any Clock<Duration>)? = nil,
        countsAsFailure: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) {
        settings.check()
        self.label = label
        self.clock = AnyClock.given(clock)
        counts = countsAsFailure
        core = Mutex(BreakerCore(settings, random: Ambient.current.random.stream()))
    }

    /// What it does with a call now. The change to half-open happens with the call that probes.
    public var phase: Phase {
        let now = clock.now.sinceOrigin.nanoseconds
        return core.withLock { core in
            switch core.phase {
            case .closed: .closed
            case .open(let until): .open(retryAfter: .nanoseconds(max(0, until - now)))
            case .halfOpen: .halfOpen
            }
        }
    }

    /// Runs `operation` unless the breaker is open, and remembers what it came to.
    ///
    /// - Parameter operation: Runs on the caller's actor.
    /// - Throws: `PolicyError<E>`: `.rejected(.breakerOpen)` at once, or `.failed` with what
    ///   `operation` threw. A `PolicyError` of a policy within, and `CancellationError`, as they
    ///   are.
    public nonisolated(nonsending) func run<R, E: Error>(
        _ operation: nonisolated(nonsending) () async throws(E) -> R
    ) async throws -> R {
        let permit: Permit
        do throws(PolicyError<Never>) { permit = try admit() } catch {
            throw admissionError(error, as: E.self)
        }
        do throws(E) {
            let value = try await operation()
            permit.succeed()
            return value
        } catch {
            if isFailure(error) { permit.fail() } else { permit.cancel() }
            throw PolicyError.passing(error)
        }
    }

    /// Asks for one call, for callers that cannot put it into a closure. Synchronous, allocates
    /// nothing.
    /// - Returns: What tells the breaker how the call ended. Dropped without a word, it tells
    ///   nothing.
    /// - Throws: `.rejected(.breakerOpen)`.
    public func admit() throws(PolicyError<Never>) -> Permit {
        let now = clock.now.sinceOrigin.nanoseconds
        let (admission, change) = core.withLock { $0.admit(at: now) }
        report(change)
        switch admission {
        case .admitted(let ticket):
            return Permit(self, ticket)
        case .rejected(let wait):
            let retryAfter = Duration.nanoseconds(wait)
            emit(.breakerRejected, .info, [.init("label", label), .init("retryAfter", retryAfter)])
            throw .rejected(.breakerOpen(retryAfter: retryAfter))
        }
    }

    private func isFailure(_ error: any Error) -> Bool {
        if error is CancellationError || Classifier.isDefect(error) { return false }
        if Classifier.isTimeout(error) { return true }
        switch Rejection(in: error) {
        case .abandoned: return true
        case nil: return counts(innermostError(error))
        case .breakerOpen, .bulkheadFull, .bulkheadTimeout, .rateLimited, .budgetExhausted,
            .deadlinePassed, .shuttingDown:
            return false
        }
    }

    fileprivate func settle(_ ticket: BreakerCore.Ticket, _ outcome: BreakerCore.Outcome) {
        let now = clock.now.sinceOrigin.nanoseconds
        report(core.withLock { $0.settle(ticket, outcome, at: now) })
    }

    private func report(_ change: BreakerCore.Change?) {
        switch change {
        case nil:
            break
        case .opened(let totals, let openFor):
            var fields: [Event.Field] = [
                .init("label", label), .init("for", .nanoseconds(openFor)),
            ]
            if let totals {
                fields += [.init("failures", totals.failures), .init("calls", totals.calls)]
            }
            emit(.breakerOpened, .warning, fields)
        case .halfOpened:
            emit(.breakerHalfOpened, .info, [.init("label", label)])
        case .closed:
            emit(.breakerClosed, .info, [.init("label", label)])
        }
    }
}

extension CircuitBreaker {
    /// One call that the breaker let through. However it goes out of scope, the breaker hears of
    /// it, so no probe is ever missing.
    public struct Permit: ~Copyable, Sendable {
        private let breaker: CircuitBreaker
        private let ticket: BreakerCore.Ticket
        private var outcome = BreakerCore.Outcome.ignored

        fileprivate init(_ breaker: CircuitBreaker, _ ticket: BreakerCore.Ticket) {
            self.breaker = breaker
            self.ticket = ticket
        }

        deinit { breaker.settle(ticket, outcome) }

        /// The dependency answered.
        public consuming func succeed() { outcome = .succeeded }

        /// The dependency failed.
        public consuming func fail() { outcome = .failed }

        /// The call says nothing about the dependency, as if it had never been made.
        public consuming func cancel() {}
    }
}

extension EventName {
    /// A breaker refuses calls from now on. Fields: `label`, `for`, and those of its window,
    /// `failures` and `calls`, unless a probe failed.
    public static let breakerOpened = EventName("breaker.opened")
    /// A breaker lets a probe through. Field: `label`.
    public static let breakerHalfOpened = EventName("breaker.halfOpened")
    /// A breaker lets every call through again. Field: `label`.
    public static let breakerClosed = EventName("breaker.closed")
    /// A breaker refused a call. Fields: `label`, `retryAfter`.
    public static let breakerRejected = EventName("breaker.rejected")
}
