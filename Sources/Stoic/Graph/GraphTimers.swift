import Synchronization

/// The timers of one clock of a run: a heap, and one task that sleeps until the earliest.
final class GraphTimers: Sendable {
    private struct Armed {
        let deadline: AnyClock.Instant
        let order: UInt64
        let timer: TimerID
    }

    private struct State {
        /// Sorted, the latest first: the next one is at the end.
        var armed: [Armed] = []
        var current: [TimerID: UInt64] = [:]
        var nextOrder: UInt64 = 0
        var sleeper: (until: AnyClock.Instant, task: Task<Void, Never>)?
        var isClosed = false
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
            let entry = Armed(deadline: deadline, order: state.nextOrder, timer: timer)
            // Most timers are armed with the same wait as the one before: they go to the front.
            let place = state.armed.firstIndex { $0.deadline <= deadline } ?? state.armed.count
            state.armed.insert(entry, at: place)
            return state.sleeper.map { deadline < $0.until } ?? true
        }
        if isNext { sleepUntilNext() }
    }

    func disarm(_ timer: TimerID) { _ = state.withLock { $0.current.removeValue(forKey: timer) } }

    /// Nothing fires any more.
    func close() {
        let sleeper = state.withLock { state in
            state.isClosed = true
            state.armed = []
            state.current = [:]
            defer { state.sleeper = nil }
            return state.sleeper
        }
        sleeper?.task.cancel()
    }

    /// Lets one task sleep until the earliest timer that is still armed.
    private func sleepUntilNext() {
        let replaced = state.withLock { state -> Task<Void, Never>? in
            while let last = state.armed.last, state.current[last.timer] != last.order {
                state.armed.removeLast()
            }
            let old = state.sleeper?.task
            state.sleeper = nil
            guard !state.isClosed, let next = state.armed.last?.deadline else { return old }
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
        let now = clock.now
        let due: [TimerID] = state.withLock { state in
            var due: [TimerID] = []
            state.sleeper = nil
            while let last = state.armed.last, last.deadline <= now {
                state.armed.removeLast()
                guard state.current[last.timer] == last.order else { continue }
                state.current[last.timer] = nil
                due.append(last.timer)
            }
            return due
        }
        for timer in due { fire(timer) }
        sleepUntilNext()
    }
}
