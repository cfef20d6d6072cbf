import Synchronization

/// Lets operations begin at most at a rate, with bursts up to a size (a token bucket).
///
/// In any stretch of time `t` at most `burst + rate × t / per` operations begin. A caller that
/// finds no token is refused and told when to come back, or waits in line for a bounded time.
/// Whoever is cancelled while it waits has taken no token.
///
/// Its time is the ambient clock's of where it is made, for ever: all its callers must mean the
/// same time.
///
/// ```swift
/// let limiter = RateLimiter("search", rate: 10, per: .seconds(1), burst: 5)
/// let hits = try await limiter.run { try await index.find("shoes") }
/// ```
public final class RateLimiter: Sendable {
    /// What happens to a caller for whom there is no token.
    public enum Excess: Hashable, Sendable {
        /// It is refused.
        case reject
        /// It waits, unless its turn is further away than this.
        case wait(max: Duration)
    }

    /// What it guards, for events.
    public let label: String
    private let excess: Excess
    private let clock: AnyClock
    private let state: Mutex<State>

    /// - Parameters:
    ///   - label: What it guards, for events.
    ///   - rate: How many begin in each `per`; 1 to 1,000,000,000.
    ///   - per: The time `rate` is about; a nanosecond to a century.
    ///   - burst: How many may begin at once after a quiet time; 1 to 1,000,000,000.
    ///   - excess: What happens to the others; refused unless given.
    ///   - clock: Whose time it lives in; the ambient clock unless given.
    public init(
        _ label: String = "rate", rate: Int, per: Duration, burst: Int, excess: Excess = .reject,
        clock: (any Clock<Duration>)? = nil
    ) {
        let numbers = 1...1_000_000_000
        precondition(numbers.contains(rate) && numbers.contains(burst), "1 to 1,000,000,000")
        precondition(per >= .nanoseconds(1), "a rate is per some time")
        self.label = label
        self.excess = excess
        let clock = AnyClock.given(clock)
        self.clock = clock
        state = Mutex(
            State(
                bucket: TokenBucket(
                    rate: rate, per: per.nanoseconds, burst: burst,
                    at: clock.now.sinceOrigin.nanoseconds)))
    }

    /// The whole tokens there are now.
    public var available: Int {
        let now = clock.now.sinceOrigin.nanoseconds
        return state.withLock { state in
            state.bucket.pass(to: now)
            return state.bucket.tokens
        }
    }

    /// How many wait for a token.
    public var waiting: Int { state.withLock { $0.line.count } }

    /// Runs `operation` once there is a token for it.
    ///
    /// - Parameter operation: Runs on the caller's actor.
    /// - Throws: `PolicyError<E>`: `.rejected(.rateLimited)`, or `.rejected(.deadlinePassed)` if
    ///   the deadline around the call ends the wait; `.failed` with what `operation` threw. A
    ///   `PolicyError` of a policy within, and `CancellationError`, as they are.
    public nonisolated(nonsending) func run<R, E: Error>(
        _ operation: nonisolated(nonsending) () async throws(E) -> R
    ) async throws -> R {
        do { try await acquire() } catch { throw admissionError(error, as: E.self) }
        do throws(E) { return try await operation() } catch { throw PolicyError.passing(error) }
    }

    /// Takes a token if there is one and nobody waits for it. Synchronous, allocates nothing.
    public func tryAcquire() -> Bool {
        let now = clock.now.sinceOrigin.nanoseconds
        return state.withLock { $0.take(at: now) }
    }

    /// Takes a token; waits for it if this limiter waits.
    ///
    /// - Throws: `PolicyError<Never>`: `.rejected(.rateLimited)` at once if there is none, or none
    ///   soon enough. `CancellationError` if the caller is, or becomes, cancelled before that.
    public nonisolated(nonsending) func acquire() async throws {
        try Task.checkCancellation()
        if tryAcquire() { return }
        let parking = Parking<Call>()
        let now = clock.now.sinceOrigin.nanoseconds
        let longest = longestWait.nanoseconds
        switch state.withLock({ $0.enter(parking, at: now, waitingAtMost: longest) }) {
        case .taken: return
        case .tooFar(let wait): throw reject(after: wait)
        case .queued(let ticket, let expected, let isFirst):
            emit(
                .rateLimitDelayed, .info,
                [.init("label", label), .init("for", .nanoseconds(expected))])
            if isFirst { parking.settle(.lead) }
            try await wait(parking, ticket)
        }
    }

    /// A deadline around the call bounds the wait too: who would come too late is told at once.
    private var longestWait: Duration {
        switch excess {
        case .reject:
            return .zero
        case .wait(let longest):
            guard let deadline = Deadline.current, deadline.clock.isSame(as: clock)
            else { return longest }
            return min(longest, deadline.remaining)
        }
    }

    private func reject(after wait: Int64) -> PolicyError<Never> {
        let retryAfter = Duration.nanoseconds(wait)
        emit(.rateLimitRejected, .notice, [.init("label", label), .init("retryAfter", retryAfter)])
        return .rejected(.rateLimited(retryAfter: retryAfter))
    }
}

// The line. Who is first in it *leads*: it sleeps until the next token and then wakes whoever is
// first after it; the others only wait. So one sleeper, a caller's own task, keeps the line going.
extension RateLimiter {
    fileprivate enum Call { case lead, cancelled }
    fileprivate typealias Ticket = WaitLine<Parking<Call>>.Ticket

    fileprivate enum Entry {
        case taken
        case queued(Ticket, wait: Int64, isFirst: Bool)
        case tooFar(wait: Int64)
    }

    fileprivate enum Turn {
        case taken(next: Parking<Call>?)
        case rest(Int64)
    }

    fileprivate struct State {
        var bucket: TokenBucket
        var line = WaitLine<Parking<Call>>()
    }

    private nonisolated(nonsending) func wait(
        _ parking: Parking<Call>, _ ticket: Ticket
    ) async throws {
        let call = await withTaskCancellationHandler {
            await parking.value(at: Site("a token of a rate limiter"), label)
        } onCancel: {
            // Who leads hears of its cancellation by itself, and must hand over.
            state.withLock { $0.leaveUnlessFirst(ticket) }?.settle(.cancelled)
        }
        switch call {
        case .cancelled: throw CancellationError()
        case .lead: try await lead(ticket)
        }
    }

    private nonisolated(nonsending) func lead(_ ticket: Ticket) async throws {
        while true {
            let now = clock.now
            switch state.withLock({
                $0.turn(of: ticket, at: now.sinceOrigin.nanoseconds, isCancelled: Task.isCancelled)
            }) {
            case nil:
                state.withLock { $0.leave(ticket) }?.settle(.lead)
                throw CancellationError()
            case .taken(let next):
                next?.settle(.lead)
                return
            case .rest(let wait):
                do {
                    try await clock.sleep(until: now.advanced(by: .nanoseconds(wait)))
                } catch {
                    continue  // It was cancelled, which the next turn sees.
                }
            }
        }
    }
}

extension RateLimiter.State {
    /// Takes a token if there is one and nobody waits.
    fileprivate mutating func take(at now: Int64) -> Bool {
        bucket.pass(to: now)
        return line.count == 0 && bucket.take()
    }

    fileprivate mutating func enter(
        _ parking: Parking<RateLimiter.Call>, at now: Int64, waitingAtMost longest: Int64
    ) -> RateLimiter.Entry {
        if take(at: now) { return .taken }
        let wait = bucket.wait(forToken: line.count + 1)
        guard wait <= longest else { return .tooFar(wait: wait) }
        let ticket = line.append(parking)
        return .queued(ticket, wait: wait, isFirst: line.first == ticket)
    }

    /// What the first in line does now; `nil` if it is cancelled.
    fileprivate mutating func turn(
        of ticket: RateLimiter.Ticket, at now: Int64, isCancelled: Bool
    ) -> RateLimiter.Turn? {
        guard !isCancelled else { return nil }
        bucket.pass(to: now)
        guard bucket.take() else { return .rest(bucket.wait(forToken: 1)) }
        return .taken(next: leave(ticket))
    }

    /// The first in line leaves; whoever is first then is to lead.
    fileprivate mutating func leave(_ ticket: RateLimiter.Ticket) -> Parking<RateLimiter.Call>? {
        _ = line.remove(ticket)
        return line.first.flatMap { line[$0] }
    }

    fileprivate mutating func leaveUnlessFirst(
        _ ticket: RateLimiter.Ticket
    ) -> Parking<RateLimiter.Call>? {
        line.first == ticket ? nil : line.remove(ticket)
    }
}

extension EventName {
    /// A caller waits for a token. Fields: `label`, `for`, about how long.
    public static let rateLimitDelayed = EventName("rateLimit.delayed")
    /// A caller got no token. Fields: `label`, `retryAfter`.
    public static let rateLimitRejected = EventName("rateLimit.rejected")
}
