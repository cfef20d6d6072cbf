import Synchronization

/// The timers of one clock of a run: a heap, and one task that sleeps until the earliest.
final class GraphTimers: Sendable {
    private struct Armed: Comparable {
        /// On the clock of all of them.
        let due: Duration
        let order: UInt64
        let timer: TimerID

        static func < (left: Armed, right: Armed) -> Bool {
            left.due != right.due ? left.due < right.due : left.order < right.order
        }
    }

    private struct State {
        /// Those that were disarmed too, until they would be due or are more than the others.
        var armed = Heap<Armed>()
        /// Which of a name counts.
        var current: [TimerID: UInt64] = [:]
        var nextOrder: UInt64 = 0
        var sleeper: (until: AnyClock.Instant, task: Task<Void, Never>)?
        var isClosed = false

        func isArmed(_ entry: Armed) -> Bool { current[entry.timer] == entry.order }

        /// Costs each timer a constant: as many were armed since the last time as are looked at.
        mutating func forgetDisarmed() {
            guard armed.count > 64, armed.count > 2 * current.count else { return }
            let current = current
            armed.keep { current[$0.timer] == $0.order }
        }
    }

    private let clock: AnyClock
    private let state = Mutex(State())
    private let fire: @Sendable (TimerID) -> Void

    init(_ clock: AnyClock, _ fire: @escaping @Sendable (TimerID) -> Void) {
        self.clock = clock
        self.fire = fire
    }

    /// Arms `timer`, in place of an earlier one of the same name.
    func arm(_ timer: TimerID, after wait: Duration) {
        let deadline = clock.now.advanced(by: wait)
        let isNext = state.withLock { state in
            state.nextOrder += 1
            state.current[timer] = state.nextOrder
            state.armed.insert(
                Armed(due: deadline.sinceOrigin, order: state.nextOrder, timer: timer))
            state.forgetDisarmed()
            return state.sleeper.map { deadline < $0.until } ?? true
        }
        if isNext { sleepUntilNext() }
    }

    func disarm(_ timer: TimerID) { _ = state.withLock { $0.current.removeValue(forKey: timer) } }

    /// Nothing fires any more.
    func close() {
        let sleeper = state.withLock { state in
            state.isClosed = true
            state.armed = Heap()
            state.current = [:]
            defer { state.sleeper = nil }
            return state.sleeper
        }
        sleeper?.task.cancel()
    }

    /// Lets one task sleep until the earliest timer that is still armed.
    private func sleepUntilNext() {
        let replaced = state.withLock { state -> Task<Void, Never>? in
            while let first = state.armed.first, !state.isArmed(first) {
                _ = state.armed.popFirst()
            }
            let old = state.sleeper?.task
            state.sleeper = nil
            guard !state.isClosed, let first = state.armed.first else { return old }
            let next = clock.instant(first.due)
            let deadline = Deadline(clock: clock, instant: next, limit: .zero)
            let task = spawn { [self] in
                guard await deadline.sleep() else { return }
                fireDue()
            }
            state.sleeper = (next, task)
            return old
        }
        replaced?.cancel()
    }

    private func fireDue() {
        let now = clock.now.sinceOrigin
        let due: [TimerID] = state.withLock { state in
            var due: [TimerID] = []
            state.sleeper = nil
            while let first = state.armed.first, first.due <= now {
                _ = state.armed.popFirst()
                guard state.isArmed(first) else { continue }
                state.current[first.timer] = nil
                due.append(first.timer)
            }
            return due
        }
        for timer in due { fire(timer) }
        sleepUntilNext()
    }
}
