import Synchronization

/// Something that happens once and has a value; any number of tasks may wait for it.
package final class Completion<Value: Sendable>: Sendable {
    private enum State {
        case pending(nextWaiter: UInt64, waiters: [UInt64: Parking<Value?>])
        case done(Value)
    }

    private let state = Mutex(State.pending(nextWaiter: 0, waiters: [:]))

    /// Nothing has happened yet.
    package init() {}

    /// The value, if it is there.
    package var value: Value? {
        state.withLock { state in
            switch state {
            case .pending: nil
            case .done(let value): value
            }
        }
    }

    /// Sets the value and wakes everybody; says whether this was the first.
    @discardableResult
    package func fulfil(_ value: Value) -> Bool {
        let waiters: [UInt64: Parking<Value?>]? = state.withLock { state in
            guard case .pending(_, let waiters) = state else { return nil }
            state = .done(value)
            return waiters
        }
        guard let waiters else { return false }
        for waiter in waiters.sorted(by: { $0.key < $1.key }) { waiter.value.settle(value) }
        return true
    }

    /// Waits for the value; `nil` if the task is cancelled first.
    package nonisolated(nonsending) func wait(
        for site: Site = Site("a completion")
    ) async -> Value? {
        let parking = Parking<Value?>()
        let id = enter(parking)
        let value = await parking.value(cancelled: nil, at: site)
        if let id { leave(id) }
        return value
    }

    /// Waits for the value at most until `deadline`; `nil` if that passes, or the task is
    /// cancelled, first.
    package nonisolated(nonsending) func wait(
        for site: Site = Site("a completion"), until deadline: Deadline
    ) async -> Value? {
        let parking = Parking<Value?>()
        let id = enter(parking)
        let timer = spawn {
            // A cancelled sleep means that the value was there first.
            guard await deadline.sleep() else { return }
            parking.settle(nil)
        }
        let value = await parking.value(cancelled: nil, at: site)
        timer.cancel()
        if let id { leave(id) }
        return value
    }

    /// Adds a waiter, or settles it at once.
    private func enter(_ parking: Parking<Value?>) -> UInt64? {
        let (id, value): (UInt64?, Value?) = state.withLock { state in
            switch state {
            case .pending(let id, var waiters):
                waiters[id] = parking
                state = .pending(nextWaiter: id + 1, waiters: waiters)
                return (id, nil)
            case .done(let value):
                return (nil, value)
            }
        }
        if let value { parking.settle(value) }
        return id
    }

    private func leave(_ id: UInt64) {
        state.withLock { state in
            guard case .pending(let next, var waiters) = state else { return }
            waiters[id] = nil
            state = .pending(nextWaiter: next, waiters: waiters)
        }
    }
}
