import Synchronization

/// A number of permits that callers take, hold and give back. Who finds none waits in a line, first
/// come first served, that is bounded and can be left by cancellation.
///
/// A permit is given back when its holder is done with it, whichever way: it cannot be copied, kept
/// by mistake or lost. Nobody overtakes the line, also not a caller that comes just as a permit is
/// given back. Taking a free permit is synchronous and allocates nothing.
///
/// ```swift
/// let seats = Semaphore(limit: 4, queue: 16)
/// let permit = try await seats.acquire(within: .seconds(2))
/// try await scan()
/// permit.release()
/// ```
public final class Semaphore: Sendable {
    /// How many permits there are.
    public let limit: Int
    /// How many may wait at once.
    public let queue: Int
    private let state: Mutex<State>
    let report: Report

    /// What events are called, and what they are about.
    struct Report: Sendable {
        let label: String
        let queued: EventName
        let waited: EventName
        let rejected: EventName
    }

    /// How a wait ended. Whoever takes a waiter out of the line decides it, so that there is
    /// exactly one end.
    fileprivate enum Outcome { case granted, cancelled, timedOut }

    fileprivate struct State {
        /// Not taken; above zero only while nobody waits.
        var free: Int
        var line = WaitLine<Parking<Outcome>>()
    }

    fileprivate enum Entry {
        case granted
        case queued(WaitLine<Parking<Outcome>>.Ticket)
        case full
    }

    /// - Parameters:
    ///   - label: What it guards, for events.
    ///   - limit: How many permits there are; at least 1.
    ///   - queue: How many may wait at once; at least 0, at most 1,000,000.
    public convenience init(_ label: String = "semaphore", limit: Int, queue: Int) {
        self.init(
            limit: limit, queue: queue,
            report: Report(
                label: label, queued: .semaphoreQueued, waited: .semaphoreWaited,
                rejected: .semaphoreRejected))
    }

    init(limit: Int, queue: Int, report: Report) {
        precondition(limit >= 1, "a semaphore has at least one permit")
        precondition((0...1_000_000).contains(queue), "a line of 0 to 1,000,000")
        self.limit = limit
        self.queue = queue
        self.report = report
        state = Mutex(State(free: limit))
    }

    /// How many permits are free now.
    public var available: Int { state.withLock { $0.free } }

    /// How many wait now.
    public var waiting: Int { state.withLock { $0.line.count } }

    /// Takes a permit if one is free; never waits.
    public func tryAcquire() -> Permit? {
        let granted = state.withLock { $0.take() }
        return granted ? Permit(self) : nil
    }

    /// Takes a permit, and waits for one if none is free.
    ///
    /// - Parameters:
    ///   - longest: How long it may wait; `nil` waits until the caller is cancelled. With zero or
    ///     less it does not wait.
    ///   - clock: Whose time that is; the ambient clock unless given.
    /// - Throws: `PolicyError<Never>`: `.rejected(.bulkheadFull)` at once if the line is full,
    ///   `.rejected(.bulkheadTimeout)` after `longest`. `CancellationError` if the caller is, or
    ///   becomes, cancelled before it has the permit.
    public nonisolated(nonsending) func acquire(
        within longest: Duration? = nil, clock: (any Clock<Duration>)? = nil
    ) async throws -> Permit {
        try Task.checkCancellation()
        if state.withLock({ $0.take() }) { return Permit(self) }
        let parking = Parking<Outcome>()
        let mayWait = longest.map { $0 > .zero } ?? true
        switch state.withLock({ $0.enter(parking, limit: mayWait ? queue : 0) }) {
        case .granted:
            return Permit(self)
        case .full:
            throw reject(mayWait || queue == 0 ? .bulkheadFull : .bulkheadTimeout)
        case .queued(let ticket):
            return try await wait(parking, ticket, longest, AnyClock.given(clock))
        }
    }

    private nonisolated(nonsending) func wait(
        _ parking: Parking<Outcome>, _ ticket: WaitLine<Parking<Outcome>>.Ticket,
        _ longest: Duration?, _ clock: AnyClock
    ) async throws -> Permit {
        emit(report.queued, .info, [.init("label", report.label), .init("waiting", waiting)])
        let begin = clock.now
        let timer = longest.map { longest in
            let deadline = Deadline(
                clock: clock, instant: begin.advanced(by: longest), limit: longest)
            return spawn {
                guard await deadline.sleep() else { return }
                self.leave(ticket, .timedOut)
            }
        }
        let outcome = await withTaskCancellationHandler {
            await parking.value(at: Site("a permit of a semaphore"), report.label)
        } onCancel: {
            leave(ticket, .cancelled)
        }
        timer?.cancel()
        switch outcome {
        case .granted:
            let permit = Permit(self)
            emit(
                report.waited, .info,
                [.init("label", report.label), .init("for", begin.duration(to: clock.now))])
            return permit
        case .cancelled:
            throw CancellationError()
        case .timedOut:
            throw reject(.bulkheadTimeout)
        }
    }

    private func leave(_ ticket: WaitLine<Parking<Outcome>>.Ticket, _ outcome: Outcome) {
        // `nil` if it was granted, or left, before: that end stands.
        state.withLock { $0.line.remove(ticket) }?.settle(outcome)
    }

    private func reject(_ rejection: Rejection) -> PolicyError<Never> {
        emit(
            report.rejected, .notice,
            [.init("label", report.label), .init("reason", describing: rejection)])
        return .rejected(rejection)
    }

    /// Hands the permit to who waits longest; free only if nobody waits.
    fileprivate func giveBack() {
        let next: Parking<Outcome>? = state.withLock { state in
            if let next = state.line.removeFirst() { return next }
            state.free += 1
            return nil
        }
        next?.settle(.granted)
    }
}

extension Semaphore {
    /// The right to go on. It is given back when it is released or goes out of scope.
    public struct Permit: ~Copyable, Sendable {
        private let semaphore: Semaphore

        fileprivate init(_ semaphore: Semaphore) { self.semaphore = semaphore }

        deinit { semaphore.giveBack() }

        /// Gives it back now. Using it afterwards does not compile.
        public consuming func release() {}
    }
}

extension Semaphore.State {
    fileprivate mutating func take() -> Bool {
        guard free > 0 else { return false }
        free -= 1
        return true
    }

    /// Takes a permit after all, or joins a line of fewer than `limit`.
    fileprivate mutating func enter(
        _ parking: Parking<Semaphore.Outcome>, limit: Int
    ) -> Semaphore.Entry {
        if take() { return .granted }
        return line.count < limit ? .queued(line.append(parking)) : .full
    }
}

extension EventName {
    /// A caller waits for a permit. Fields: `label`, `waiting`, how many wait now.
    public static let semaphoreQueued = EventName("semaphore.queued")
    /// A caller that waited has its permit. Fields: `label`, `for`.
    public static let semaphoreWaited = EventName("semaphore.waited")
    /// A caller got no permit: the line was full, or its wait too long. Fields: `label`, `reason`.
    public static let semaphoreRejected = EventName("semaphore.rejected")
}
