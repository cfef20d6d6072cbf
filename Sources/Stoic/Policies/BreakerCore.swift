/// A circuit breaker as data: no lock, no clock, no events. It is told the time and decides.
///
/// Each change of phase begins a new generation. What a call of an older generation did says
/// nothing about the present one, so it changes nothing.
struct BreakerCore {
    enum Phase: Hashable {
        case closed
        /// Until that moment; then the next caller becomes a probe.
        case open(until: Int64)
        case halfOpen(Probing)
    }

    struct Probing: Hashable {
        /// Probes that have not ended.
        var running = 0
        /// Probes that have succeeded.
        var successes = 0
        /// When a probe began or ended last.
        var lastMove: Int64
    }

    /// What a caller holds while its call runs.
    struct Ticket: Hashable, Sendable {
        let generation: UInt64
        let began: Int64
    }

    enum Outcome: Hashable, Sendable {
        case succeeded, failed
        /// It says nothing about the dependency: cancelled, refused, a client's error.
        case ignored
    }

    enum Admission: Hashable {
        case admitted(Ticket)
        case rejected(retryAfter: Int64)
    }

    /// A change of phase, for whoever reports it.
    enum Change: Hashable {
        case opened(FailureWindow.Totals?, openFor: Int64)
        case halfOpened
        case closed
    }

    private(set) var phase = Phase.closed
    private(set) var generation: UInt64 = 0
    private var window: FailureWindow
    /// How many times in a row it has opened without closing.
    private var openings = 0
    private var now: Int64 = 0
    private var random: RandomSource
    private let limits: Limits

    init(_ settings: CircuitBreaker.Settings, random: RandomSource) {
        limits = Limits(settings)
        self.random = random
        window = FailureWindow(
            length: settings.window.nanoseconds, buckets: CircuitBreaker.Settings.buckets)
    }

    /// What was counted lately.
    mutating func totals(at time: Int64) -> FailureWindow.Totals {
        pass(to: time)
        return window.totals(at: now)
    }

    /// Whether a call may begin.
    mutating func admit(at time: Int64) -> (Admission, Change?) {
        pass(to: time)
        switch phase {
        case .closed:
            return (.admitted(ticket), nil)
        case .open(let until) where now < until:
            return (.rejected(retryAfter: until - now), nil)
        case .open:
            enter(.halfOpen(Probing(running: 1, lastMove: now)))
            return (.admitted(ticket), .halfOpened)
        case .halfOpen(var probing):
            if probing.running < limits.probes {
                probing.running += 1
                probing.lastMove = now
                phase = .halfOpen(probing)
                return (.admitted(ticket), nil)
            }
            let quietUntil = probing.lastMove.addingWithCap(limits.halfOpenMaxWait)
            guard now >= quietUntil else { return (.rejected(retryAfter: quietUntil - now), nil) }
            let (openFor, change) = open(nil)
            return (.rejected(retryAfter: openFor), change)
        }
    }

    /// What a call that was admitted came to.
    mutating func settle(_ ticket: Ticket, _ outcome: Outcome, at time: Int64) -> Change? {
        pass(to: time)
        guard ticket.generation == generation else { return nil }
        let outcome = judged(outcome, of: ticket)
        switch phase {
        case .closed:
            return whileClosed(outcome)
        case .halfOpen(let probing):
            return whileHalfOpen(probing, outcome)
        case .open:
            preconditionFailure("no call begins while the breaker is open")
        }
    }

    private mutating func whileClosed(_ outcome: Outcome) -> Change? {
        switch outcome {
        case .ignored: return nil
        case .succeeded: window.record(failed: false, at: now)
        case .failed: window.record(failed: true, at: now)
        }
        let totals = window.totals(at: now)
        guard totals.calls >= limits.minimumCalls,
            Double(totals.failures) >= limits.failureRatio * Double(totals.calls)
        else { return nil }
        return open(totals).change
    }

    private mutating func whileHalfOpen(_ probing: Probing, _ outcome: Outcome) -> Change? {
        var probing = probing
        probing.running -= 1
        probing.lastMove = now
        switch outcome {
        case .failed:
            return open(nil).change
        case .succeeded:
            probing.successes += 1
        case .ignored:
            break
        }
        guard probing.successes < limits.successesToClose else {
            openings = 0
            window.clear()
            enter(.closed)
            return .closed
        }
        phase = .halfOpen(probing)
        return nil
    }

    private mutating func open(
        _ totals: FailureWindow.Totals?
    ) -> (openFor: Int64, change: Change) {
        let whole = limits.openFor(opening: openings)
        let openFor = Int64.random(in: (whole - whole / 2)...whole, using: &random)
        openings += 1
        window.clear()
        enter(.open(until: now.addingWithCap(openFor)))
        return (openFor, .opened(totals, openFor: openFor))
    }

    private mutating func enter(_ next: Phase) {
        phase = next
        generation += 1
    }

    private var ticket: Ticket { Ticket(generation: generation, began: now) }

    private func judged(_ outcome: Outcome, of ticket: Ticket) -> Outcome {
        guard outcome == .succeeded, let slow = limits.slowCall, now - ticket.began >= slow
        else { return outcome }
        return .failed
    }

    private mutating func pass(to time: Int64) { now = max(now, time) }
}

/// A breaker's settings as it counts with them.
private struct Limits {
    let failureRatio: Double
    let minimumCalls: Int
    let openForFirst: Int64
    let openForAtMost: Int64
    let probes: Int
    let successesToClose: Int
    let halfOpenMaxWait: Int64
    let slowCall: Int64?

    init(_ settings: CircuitBreaker.Settings) {
        failureRatio = settings.failureRatio
        minimumCalls = settings.minimumCalls
        openForFirst = max(1, settings.openFor.nanoseconds)
        openForAtMost = max(1, settings.openForAtMost.nanoseconds)
        probes = settings.probes
        successesToClose = settings.successesToClose
        halfOpenMaxWait = max(1, (settings.halfOpenMaxWait ?? settings.openFor).nanoseconds)
        slowCall = settings.slowCall?.nanoseconds
    }

    /// Doubled for each opening before it; past 62 doublings everything is at the cap.
    func openFor(opening: Int) -> Int64 {
        let (doubled, overflow) = openForFirst.multipliedReportingOverflow(
            by: Int64(1) << min(opening, 62))
        return overflow ? openForAtMost : min(doubled, openForAtMost)
    }
}

extension Int64 {
    /// The sum, or the largest number if there is none.
    fileprivate func addingWithCap(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
