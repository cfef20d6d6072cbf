import Synchronization

/// How much retrying is affordable, shared by all callers of one dependency: failures drain it and
/// successes, or requests, fill it.
///
/// What a retry costs is taken when the retry is *decided*, before its delay: a cohort that fails
/// together cannot decide together to retry more than the budget holds.
///
/// ```swift
/// let budget = RetryBudget(.init(capacity: 50), name: "search")
/// let hits = try await retry(budget: budget) { _ in try await index.find("shoes") }
/// ```
public final class RetryBudget: Sendable {
    /// What it is filled with, and what is taken from it.
    public let rule: Rule
    /// What it is called in events; empty for a budget without a name.
    public let name: String
    private let state: Mutex<State>

    private struct State {
        var purse: Purse
        /// Whether it refused a retry and has not been half full since.
        var isExhausted = false
    }

    /// A full bucket.
    /// - Parameters:
    ///   - prices: What it holds at most, and what is taken from it.
    ///   - name: What it is called in events.
    public convenience init(_ prices: Prices = Prices(), name: String = "") {
        self.init(.tokens(prices), name: name)
    }

    /// A full budget.
    /// - Parameters:
    ///   - rule: What it is filled with, and what is taken from it.
    ///   - name: What it is called in events.
    ///   - clock: Whose time a ratio counts in; the ambient clock unless given.
    /// - Precondition: The numbers of `rule` are those it allows.
    public init(_ rule: Rule, name: String = "", clock: (any Clock<Duration>)? = nil) {
        self.rule = rule
        self.name = name
        let clock = clock.map { AnyClock($0) } ?? Ambient.current.clock
        state = Mutex(State(purse: Purse(rule, clock)))
    }

    /// The default budget of the current surroundings: the one named "default".
    public static var ambientDefault: RetryBudget { Ambient.current.budgets.named("default") }

    /// The tokens left; for a ratio, the retries that are affordable now.
    public var remaining: Int { state.withLock { $0.purse.remaining } }

    /// Runs `operation` if one retry is affordable: for repeated work that is not a `retry`, as a
    /// hedge. What it cost comes back if the operation succeeds or is cancelled.
    /// - Throws: `PolicyError<E>`: `.rejected(.budgetExhausted)` if it did not run, else `.failed`;
    ///   `CancellationError` as it is.
    public nonisolated(nonsending) func run<R, E: Error>(
        _ operation: nonisolated(nonsending) () async throws(E) -> R
    ) async throws -> R {
        guard let paid = withdraw(afterTimeout: false) else {
            throw PolicyError<E>.rejected(.budgetExhausted)
        }
        do throws(E) {
            let value = try await operation()
            refund(paid)
            return value
        } catch {
            if error is CancellationError { refund(paid) }
            throw PolicyError.passing(error)
        }
    }

    /// Takes what a retry costs, or nothing if that much is not left.
    func withdraw(afterTimeout: Bool) -> Withdrawal? {
        change { purse in
            purse.withdraw(purse.price(afterTimeout: afterTimeout))
        }
    }

    /// What a retry paid.
    struct Withdrawal: Hashable, Sendable {
        let tokens: Int
    }

    /// Gives back what a retry paid: it succeeded, or never ran.
    func refund(_ withdrawal: Withdrawal) {
        change { purse in
            purse.deposit(withdrawal.tokens)
            return withdrawal
        }
    }

    /// Gives back what a retry paid that succeeded. A ratio keeps it: there, requests pay.
    func refundSuccess(_ withdrawal: Withdrawal) {
        guard case .tokens = rule else { return }
        refund(withdrawal)
    }

    /// A first attempt begins: a ratio grows with the requests.
    func noteRequest() {
        guard case .ratio = rule else { return }
        change { purse in
            purse.depositRequest()
            return Withdrawal(tokens: 0)
        }
    }

    /// Rewards a success that needed no retry.
    func rewardSuccess() {
        guard case .tokens(let prices) = rule, prices.success > 0 else { return }
        refund(Withdrawal(tokens: prices.success))
    }

    /// Changes what is left, and tells if that ended or brought back affordable retries.
    /// - Parameter action: `nil` means that a retry was refused.
    @discardableResult
    private func change(_ action: (inout Purse) -> Withdrawal?) -> Withdrawal? {
        let (result, news): (Withdrawal?, EventName?) = state.withLock { state in
            let result = action(&state.purse)
            if result == nil, !state.isExhausted {
                state.isExhausted = true
                return (result, .budgetExhausted)
            }
            // Half full, not the first token: at the edge the two would alternate.
            if result != nil, state.isExhausted, state.purse.isHalfFull {
                state.isExhausted = false
                return (result, .budgetRecovered)
            }
            return (result, nil)
        }
        if let news {
            emit(news, news == .budgetExhausted ? .warning : .notice, [.init("budget", name)])
        }
        return result
    }
}

extension RetryBudget {
    /// How a budget is filled.
    public enum Rule: Hashable, Sendable {
        /// A bucket that failures drain and successes fill; it needs no clock.
        case tokens(Prices)
        /// Retries for so many of the requests of the last `ttl`, and `perSecond` more: 20 % and
        /// 10 a second, over 10 seconds, unless given. Numbers after Finagle. A ratio lies within
        /// 0...1,000, `perSecond` within 0...1,000,000, and `ttl` is from 1 ms to a day.
        case ratio(
            _ ratio: Double = 0.2, perSecond: Double = 10, ttl: Duration = .seconds(10))
    }

    /// What a bucket holds at most, and what is taken from it. Numbers after the AWS SDKs' standard
    /// retry mode.
    public struct Prices: Hashable, Sendable {
        /// Tokens in a full bucket; at least 0.
        public var capacity: Int
        /// Tokens for a retry.
        public var retry: Int
        /// Tokens for a retry after a timeout, which costs the dependency more.
        public var retryAfterTimeout: Int
        /// Tokens back for a success without a retry.
        public var success: Int

        /// 500 tokens, 5 a retry, 10 after a timeout, 1 back for a first success.
        public init(
            capacity: Int = 500, retry: Int = 5, retryAfterTimeout: Int = 10, success: Int = 1
        ) {
            precondition(
                capacity >= 0 && retry >= 0 && retryAfterTimeout >= 0 && success >= 0,
                "tokens are not negative")
            self.capacity = capacity
            self.retry = retry
            self.retryAfterTimeout = retryAfterTimeout
            self.success = success
        }
    }
}

/// The retry budgets of a process, or of a test, by name; made full on first use.
public final class RetryBudgets: Sendable {
    private let byName = Mutex<[String: RetryBudget]>([:])

    /// A registry whose budgets are all full.
    public init() {}

    /// The budget of this name; the first to ask sets its prices.
    public func named(_ name: String, _ prices: RetryBudget.Prices = .init()) -> RetryBudget {
        named(name, .tokens(prices))
    }

    /// The budget of this name; the first to ask sets its rule, and its clock to the ambient one.
    public func named(_ name: String, _ rule: RetryBudget.Rule) -> RetryBudget {
        byName.withLock { budgets in
            if let budget = budgets[name] { return budget }
            let budget = RetryBudget(rule, name: name)
            budgets[name] = budget
            return budget
        }
    }
}

extension EventName {
    /// A budget refused a retry, for the first time since it was half full. Field: `budget`.
    public static let budgetExhausted = EventName("budget.exhausted")
    /// An exhausted budget is half full again. Field: `budget`.
    public static let budgetRecovered = EventName("budget.recovered")
}
