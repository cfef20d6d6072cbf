/// What is left of a retry budget: its arithmetic, without its lock.
enum Purse {
    case tokens(Int, RetryBudget.Prices)
    case window(RequestWindow)

    init(_ rule: RetryBudget.Rule, _ clock: AnyClock) {
        switch rule {
        case .tokens(let prices):
            self = .tokens(prices.capacity, prices)
        case .ratio(let ratio, let perSecond, let ttl):
            self = .window(RequestWindow(ratio: ratio, perSecond: perSecond, ttl: ttl, clock))
        }
    }

    /// Tokens, or whole retries.
    var remaining: Int {
        switch self {
        case .tokens(let left, _): left
        case .window(let window): max(0, window.balance / RequestWindow.retry)
        }
    }

    func price(afterTimeout: Bool) -> Int {
        switch self {
        case .tokens(_, let prices): afterTimeout ? prices.retryAfterTimeout : prices.retry
        case .window: RequestWindow.retry
        }
    }

    /// Takes `price` if it is there.
    mutating func withdraw(_ price: Int) -> RetryBudget.Withdrawal? {
        switch self {
        case .tokens(let left, let prices):
            guard left >= price else { return nil }
            self = .tokens(left - price, prices)
        case .window(var window):
            guard window.balance >= price else { return nil }
            window.add(-price)
            self = .window(window)
        }
        return RetryBudget.Withdrawal(tokens: price)
    }

    mutating func deposit(_ count: Int) {
        switch self {
        case .tokens(let left, let prices):
            self = .tokens(left + min(count, prices.capacity - left), prices)
        case .window(var window):
            window.add(count)
            self = .window(window)
        }
    }

    mutating func depositRequest() {
        guard case .window(var window) = self else { return }
        window.add(window.perRequest)
        self = .window(window)
    }

    var isHalfFull: Bool {
        switch self {
        case .tokens(let left, let prices): left >= max(1, prices.capacity / 2)
        case .window(let window):
            window.balance >= max(RequestWindow.retry, window.reserve / 2)
        }
    }
}

/// The requests and retries of the last while, in slices; what is older is forgotten.
struct RequestWindow {
    /// What one retry costs. Everything is counted in thousandths of a retry.
    static let retry = 1_000
    private static let sliceCount = 10

    /// What a request adds.
    let perRequest: Int
    /// What is there without any request.
    let reserve: Int
    private let slice: Duration
    private let clock: AnyClock
    private let origin: AnyClock.Instant
    /// Of each slice what came in and went out, the newest at `newest % sliceCount`.
    private var sums = [Int](repeating: 0, count: sliceCount)
    private var newest = 0

    /// - Precondition: `ratio` lies within 0...1,000, `perSecond` within 0...1,000,000, `ttl` is
    ///   from 1 ms to a day.
    init(ratio: Double, perSecond: Double, ttl: Duration, _ clock: AnyClock) {
        precondition((0...1_000).contains(ratio), "a ratio lies within 0...1,000")
        precondition((0...1_000_000).contains(perSecond), "a rate lies within 0...1,000,000")
        precondition(ttl >= .milliseconds(1) && ttl <= .seconds(86_400), "1 ms to a day")
        perRequest = Int(ratio * Double(Self.retry))
        reserve = Int(perSecond * (ttl / .seconds(1)) * Double(Self.retry))
        slice = ttl / Self.sliceCount
        self.clock = clock
        origin = clock.now
    }

    /// What is left; negative while more has gone out than came in since.
    var balance: Int {
        let oldest = max(0, place - Self.sliceCount + 1)
        guard oldest <= newest else { return reserve }
        return (oldest...newest).reduce(reserve) { $0 + sums[$1 % Self.sliceCount] }
    }

    mutating func add(_ count: Int) {
        let now = place
        let passed = min(now - newest, Self.sliceCount)
        for number in (now - passed)..<now { sums[(number + 1) % Self.sliceCount] = 0 }
        newest = now
        // Beyond any real rate; the sum of ten such slices still fits.
        let bound = Int.max / 32
        let sum = sums[newest % Self.sliceCount] + count
        sums[newest % Self.sliceCount] = min(max(sum, -bound), bound)
    }

    /// The number of the current slice. Time never goes back: a clock that does stands still.
    private var place: Int {
        max(newest, Int(origin.duration(to: clock.now).attoseconds / slice.attoseconds))
    }
}
