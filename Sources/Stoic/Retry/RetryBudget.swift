import Synchronization

/// How much retrying is affordable, shared by all callers of one dependency: a bucket of tokens
/// that failures drain and successes fill. It starts full and needs no clock.
///
/// The token is taken when the retry is *decided*, before its delay: a cohort that fails together
/// cannot decide together to retry more than the bucket holds. Numbers after the AWS SDKs'
/// standard retry mode.
public final class RetryBudget: Sendable {
    /// What the bucket holds at most, and what is taken from it.
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

    /// What the bucket holds at most, and what is taken from it.
    public let prices: Prices
    private let tokens: Mutex<Int>

    /// A full bucket.
    public init(_ prices: Prices = Prices()) {
        self.prices = prices
        tokens = Mutex(prices.capacity)
    }

    /// The tokens left.
    public var remaining: Int { tokens.withLock { $0 } }

    /// Takes what a retry costs, or nothing if that much is not left.
    func withdraw(afterTimeout: Bool) -> Withdrawal? {
        let price = afterTimeout ? prices.retryAfterTimeout : prices.retry
        let paid = tokens.withLock { tokens in
            guard tokens >= price else { return false }
            tokens -= price
            return true
        }
        return paid ? Withdrawal(tokens: price) : nil
    }

    /// What a retry paid.
    struct Withdrawal: Hashable, Sendable {
        let tokens: Int
    }

    /// Gives back what a retry paid: it succeeded, or never ran.
    func refund(_ withdrawal: Withdrawal) { deposit(withdrawal.tokens) }

    /// Rewards a success that needed no retry.
    func rewardSuccess() { deposit(prices.success) }

    private func deposit(_ count: Int) {
        tokens.withLock { $0 = min(prices.capacity, $0 + count) }
    }
}

/// The retry budgets of a process, or of a test, by name; made full on first use.
public final class RetryBudgets: Sendable {
    private let byName = Mutex<[String: RetryBudget]>([:])

    /// A registry whose budgets are all full.
    public init() {}

    /// The budget of this name; the first to ask sets its prices.
    public func named(_ name: String, _ prices: RetryBudget.Prices = .init()) -> RetryBudget {
        byName.withLock { budgets in
            if let budget = budgets[name] { return budget }
            let budget = RetryBudget(prices)
            budgets[name] = budget
            return budget
        }
    }
}
