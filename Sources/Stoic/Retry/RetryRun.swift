/// One call of `retry`: everything about it that does not depend on its types.
struct RetryRun {
    /// Why no further attempt is made.
    enum Reason: String {
        case exhausted, schedule, classified, defect, deadline, budget, cancelled
    }

    /// What the caller of `retry` chose.
    struct Rules {
        let schedule: Schedule
        let attempts: Int
        let budget: RetryBudget?
        let longestRetryAfter: Duration
    }

    private let rules: Rules
    private let clock: AnyClock
    private let began: AnyClock.Instant
    /// What an attempt runs in.
    private let context: Context
    private let deadline: Deadline?
    private let isNested: Bool
    private var random: RandomSource
    private var place = Schedule.State()
    private var number = 0
    /// What the retry under way paid.
    private var paid: RetryBudget.Withdrawal?

    /// - Precondition: The attempts are from 1 to 10,000.
    init(_ rules: Rules, clock: AnyClock, in context: Context, random: RandomSource) {
        precondition((1...10_000).contains(rules.attempts), "attempts are from 1 to 10,000")
        self.rules = rules
        self.clock = clock
        began = clock.now
        var inside = context
        inside.retries = RetryPath(rules.attempts, inside: context.retries)
        self.context = inside
        deadline = context.ambient.deadline
        isNested = context.retries != nil
        self.random = random
    }

    private var limit: Int { rules.attempts }
    private var budget: RetryBudget? { rules.budget }

    /// The next attempt begins.
    mutating func begin() -> Attempt {
        number += 1
        if number == 1 { budget?.noteRequest() }
        return Attempt(
            number: number, limit: limit,
            elapsed: number == 1 ? .zero : began.duration(to: clock.now))
    }

    /// Runs one attempt.
    nonisolated(nonsending) func perform<R, E: Error>(
        timeout: Duration?, _ body: nonisolated(nonsending) () async throws(E) -> R
    ) async -> DeadlineOutcome<R, E> {
        do throws(E) {
            return try await withContext(context) { () async throws(E) -> DeadlineOutcome<R, E> in
                if let timeout { return await Deadline.in(timeout, clock: clock).run(body) }
                return DeadlineOutcome(result: .success(try await body()), isCut: false)
            }
        } catch {
            return DeadlineOutcome(result: .failure(error), isCut: false)
        }
    }

    func succeeded() {
        guard number > 1 else {
            budget?.rewardSuccess()
            return
        }
        if let paid { budget?.refundSuccess(paid) }
        emit(.retrySucceeded, .info, [.init("attempt", number), .init("of", limit)])
    }

    /// The delay before the next attempt, already paid for; `nil` if there is none, which has been
    /// told.
    mutating func delay(
        after error: any Error, _ decision: RetryDecision, isCut: Bool
    ) -> Duration? {
        // A cancellation of its own is the operation's way to end: it is no failure.
        if !isCut, error is CancellationError {
            gaveUp(.cancelled, error)
            return nil
        }
        let isTimeout = isCut || Classifier.isTimeout(error)
        emit(
            .retryAttemptFailed, .info,
            [
                .init("attempt", number), .init("of", limit),
                .init("timedOut", .flag(isTimeout)), .init("error", describing: error),
            ])
        let (delay, reason) = plan(decision, isTimeout: isTimeout)
        guard let delay else {
            gaveUp(Classifier.isDefect(error) ? .defect : reason ?? .exhausted, error)
            return nil
        }
        if isNested, number == 1 {
            let path = context.retries?.limits ?? []
            emit(
                .retryNested, .notice,
                [
                    .init("attempts", context.retries?.amplification ?? limit),
                    .init("amplification", path.map { "\($0)" }.joined(separator: "×")),
                ])
        }
        emit(
            .retryScheduled, .info,
            [.init("attempt", number + 1), .init("of", limit), .init("delay", delay)])
        return delay
    }

    /// The checks in the order of what they cost: the budget is asked last, for it is paid.
    private mutating func plan(
        _ decision: RetryDecision, isTimeout: Bool
    ) -> (delay: Duration?, reason: Reason?) {
        if decision == .giveUp { return (nil, .classified) }
        if number == limit { return (nil, .exhausted) }
        let elapsed = began.duration(to: clock.now)
        let step = rules.schedule.next(&place, elapsed: elapsed, random: &random)
        guard case .delay(var delay) = step else { return (nil, .schedule) }
        if case .retryAfter(let asked) = decision {
            delay = min(max(asked, .zero), max(rules.longestRetryAfter, .zero)).clamped
        }
        if let deadline, delay >= deadline.remaining { return (nil, .deadline) }
        if let budget {
            guard let price = budget.withdraw(afterTimeout: isTimeout) else {
                return (nil, .budget)
            }
            paid = price
        }
        return (delay, nil)
    }

    /// Waits before the next attempt; `false` if the caller was cancelled, and then nothing is
    /// paid.
    nonisolated(nonsending) func wait(_ delay: Duration) async -> Bool {
        do {
            try await clock.sleep(for: delay)
            if !Task.isCancelled { return true }
        } catch {
            // A sleep throws only when it is cancelled.
        }
        if let paid { budget?.refund(paid) }
        return false
    }

    /// Tells that no further attempt is made.
    func gaveUp(_ reason: Reason, _ error: any Error) {
        let level: Event.Level =
            switch reason {
            case .cancelled: .debug
            case .defect: .error
            case .exhausted, .schedule, .classified, .deadline, .budget: .notice
            }
        emit(
            .retryGaveUp, level,
            [
                .init("reason", reason.rawValue), .init("attempts", number), .init("of", limit),
                .init("error", describing: error),
            ])
    }
}

extension EventName {
    /// An attempt failed. Fields: `attempt`, `of`, `timedOut`, `error`.
    public static let retryAttemptFailed = EventName("retry.attemptFailed")
    /// Another attempt follows after a delay. Fields: `attempt`, `of`, `delay`.
    public static let retryScheduled = EventName("retry.scheduled")
    /// An attempt that was not the first succeeded. Fields: `attempt`, `of`.
    public static let retrySucceeded = EventName("retry.succeeded")
    /// No further attempt is made. Fields: `reason` (`exhausted`, `schedule`, `classified`,
    /// `defect`, `deadline`, `budget`, `cancelled`), `attempts`, `of`, `error`.
    public static let retryGaveUp = EventName("retry.gaveUp")
    /// A retry within the attempt of another one tries again, so that the two multiply. Fields:
    /// `attempts` (the product), `amplification` (as `3×3`).
    public static let retryNested = EventName("retry.nested")
}
