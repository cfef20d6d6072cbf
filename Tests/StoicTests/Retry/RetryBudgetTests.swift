import StoicTesting
import Synchronization
import Testing

@testable import Stoic

/// What a bucket should do, written down as simply as can be.
private struct BucketModel {
    let prices: RetryBudget.Prices
    private(set) var tokens: Int
    private var paid: [RetryBudget.Withdrawal] = []

    init(_ random: inout RandomSource) {
        prices = RetryBudget.Prices(
            capacity: .random(in: 0...60, using: &random),
            retry: .random(in: 0...9, using: &random),
            retryAfterTimeout: .random(in: 0...15, using: &random),
            success: .random(in: 0...4, using: &random))
        tokens = prices.capacity
    }

    /// Does something to both.
    mutating func step(_ budget: RetryBudget, _ random: inout RandomSource) {
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            budget.rewardSuccess()
            add(prices.success)
        case 1:
            guard let withdrawal = paid.popLast() else { return }
            budget.refundSuccess(withdrawal)
            add(withdrawal.tokens)
        default:
            let timedOut = Bool.random(using: &random)
            let price = timedOut ? prices.retryAfterTimeout : prices.retry
            let withdrawal = budget.withdraw(afterTimeout: timedOut)
            #expect((withdrawal != nil) == (tokens >= price))
            guard let withdrawal else { return }
            paid.append(withdrawal)
            tokens -= price
        }
    }

    private mutating func add(_ count: Int) { tokens = min(prices.capacity, tokens + count) }
}

@Suite("RetryBudget", .timeLimit(.minutes(20)))
struct RetryBudgetTests {
    @Test("RET-16: a bucket does what its model does, whatever the order")
    func bucketModel() async throws {
        for seed in 0..<300 as Range<UInt64> {
            try await simulate(seed: seed) { world in
                var random = RandomSource.seeded(seed)
                var model = BucketModel(&random)
                let budget = RetryBudget(model.prices, name: "db")
                for _ in 0..<200 {
                    model.step(budget, &random)
                    #expect(budget.remaining == model.tokens)
                }
                Self.expectAlternation(world)
            }
        }
    }

    @Test(
        "RET-16: a ratio allows its share of the requests and its retries a second, in any window")
    func ratioProperty() async throws {
        for seed in 0..<60 as Range<UInt64> {
            try await simulate(seed: seed) { world in
                var random = RandomSource.seeded(seed)
                let ratio = Double.random(in: 0...1, using: &random)
                let perSecond = Double(Int.random(in: 0...5, using: &random))
                let budget = RetryBudget(.ratio(ratio, perSecond: perSecond, ttl: .seconds(10)))
                let full = budget.remaining
                #expect(full == Int(perSecond * 10))
                var requests: [Duration] = []
                var retries: [Duration] = []
                for _ in 0..<400 {
                    let now = world.clock.now.sinceOrigin
                    if Bool.random(using: &random) {
                        budget.noteRequest()
                        requests.append(now)
                    } else if budget.withdraw(afterTimeout: Bool.random(using: &random)) != nil {
                        retries.append(now)
                        // Slices are a tenth of the window, so its beginning is known to a second.
                        let recent = retries.count { now - $0 < .seconds(9) }
                        let asked = requests.count { now - $0 <= .seconds(10) }
                        let allowed = perSecond * 10 + ratio * Double(asked)
                        #expect(Double(recent) <= allowed + 0.001)
                    }
                    #expect(budget.remaining >= 0)
                    try await world.clock.sleep(
                        for: .milliseconds(.random(in: 0...400, using: &random)))
                }
                Self.expectAlternation(world)
            }
        }
    }

    @Test("RET-17: what requests brought is forgotten after the time to live")
    func forgotten() async throws {
        try await simulate { world in
            let budget = RetryBudget(.ratio(0.5, perSecond: 1, ttl: .seconds(10)))
            #expect(budget.remaining == 10)
            for _ in 0..<100 { budget.noteRequest() }
            #expect(budget.remaining == 60)
            try await world.clock.sleep(for: .milliseconds(8_999))
            #expect(budget.remaining == 60)
            try await world.clock.sleep(for: .seconds(1_000_000))
            #expect(budget.remaining == 10)
            for _ in 0..<10 { #expect(budget.withdraw(afterTimeout: true) != nil) }
            #expect(budget.withdraw(afterTimeout: false) == nil && budget.remaining == 0)
            try await world.clock.sleep(for: .century)
            #expect(budget.remaining == 10)
            budget.noteRequest()
            #expect(world.events.names == ["budget.exhausted", "budget.recovered"])
        }
    }

    @Test("RET-16: exhausted is told once, recovered when it is half full")
    func recovered() async throws {
        try await simulate { world in
            let budget = Ambient.current.budgets.named("db", .init(capacity: 10, retry: 5))
            #expect(budget === Ambient.current.budgets.named("db", .ratio()))
            for _ in 0..<4 { _ = budget.withdraw(afterTimeout: false) }
            for _ in 0..<4 { budget.rewardSuccess() }
            #expect(world.events.names == ["budget.exhausted"])
            #expect(world.events.events.first?.field("budget") == .text("db"))
            budget.rewardSuccess()
            #expect(world.events.names == ["budget.exhausted", "budget.recovered"])
        }
    }

    @Test("RET-18: a budget as a gate refuses, or runs and gives back what succeeds")
    func gate() async throws {
        try await simulate { world in
            let budget = RetryBudget(.init(capacity: 7, retry: 5))
            let value = try await budget.run { 3 }
            #expect(value == 3)
            #expect(budget.remaining == 7)
            let failed = await failure { try await budget.run { throw Trouble() } }
            guard case .failed(is Trouble) = failed as? PolicyError<any Error> else {
                Issue.record("\(String(describing: failed))")
                return
            }
            #expect(budget.remaining == 2)
            let refused = await failure {
                try await budget.run { () async throws -> Void in
                    Issue.record("it ran")
                }
            }
            guard case .rejected(.budgetExhausted) = refused as? PolicyError<any Error> else {
                Issue.record("\(String(describing: refused))")
                return
            }
            #expect(world.events.names == ["budget.exhausted"])
        }
    }

    @Test("a retry pays a ratio by its requests, and gets nothing back for a success")
    func ratioInRetry() async throws {
        try await simulate { _ in
            let budget = RetryBudget(.ratio(1, perSecond: 0))
            let value = try await retry(.immediate, budget: budget) { attempt in
                if attempt.isFirst { throw Trouble() }
                return attempt.number
            }
            #expect(value == 2 && budget.remaining == 0)
            let error = await failure {
                try await retry(.immediate, budget: budget) { throw Trouble(number: $0.number) }
            }
            #expect(error as? Trouble == Trouble(number: 2))
        }
    }

    private static func expectAlternation(_ world: SimulatedWorld) {
        for (place, name) in world.events.names.enumerated() {
            #expect(name == (place % 2 == 0 ? "budget.exhausted" : "budget.recovered"))
        }
    }
}

@Suite("Classifier", .timeLimit(.minutes(20)))
struct ClassifierTests {
    private struct Coded: Classified, Equatable {
        let isTransient: Bool
        var retryAfter: Duration?
    }

    @Test(
        "RET-3: what is worth another attempt",
        arguments: [
            (Trouble(), .retry), (DeadlineExceeded(limit: .seconds(1)), .retry),
            (CancellationError(), .giveUp), (Blunder(), .giveUp),
            (Coded(isTransient: true), .retry), (Coded(isTransient: false), .giveUp),
            (Coded(isTransient: true, retryAfter: .seconds(3)), .retryAfter(.seconds(3))),
            (PolicyError<Trouble>.rejected(.bulkheadFull), .retry),
            (PolicyError<Trouble>.rejected(.bulkheadTimeout), .retry),
            (
                PolicyError<Trouble>.rejected(.rateLimited(retryAfter: .seconds(2))),
                .retryAfter(.seconds(2))
            ),
            (PolicyError<Trouble>.rejected(.breakerOpen(retryAfter: .seconds(2))), .giveUp),
            (PolicyError<Trouble>.rejected(.budgetExhausted), .giveUp),
            (PolicyError<Trouble>.rejected(.deadlinePassed), .giveUp),
            (PolicyError<Trouble>.rejected(.abandoned), .giveUp),
            (PolicyError<Trouble>.rejected(.shuttingDown), .giveUp),
            (PolicyError<Trouble>.failed(Trouble()), .retry),
            (PolicyError<Coded>.failed(Coded(isTransient: false)), .giveUp),
            (PolicyError<any Error>.failed(Blunder()), .giveUp),
            (ConcurrentFailure<any Error>(Trouble(), [Coded(isTransient: false)]), .giveUp),
            (
                ConcurrentFailure<any Error>(
                    Trouble(), [Coded(isTransient: true, retryAfter: .seconds(1))]),
                .retryAfter(.seconds(1))
            ),
        ] as [(any Error, RetryDecision)])
    func decisions(_ error: any Error, _ decision: RetryDecision) {
        #expect(Classifier.default(error) == decision)
    }
}
