import Synchronization

/// One place where one task waits for one value. Whoever settles it first decides the value.
///
/// The only continuation of this library. The value is chosen under the lock and handed over after
/// it: a continuation that is resumed, or a task that is cancelled, may run code that takes locks
/// of its own, also this one.
final class Parking<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case parked(CheckedContinuation<Value, Never>)
        case settled(Value)
        case taken
    }

    private let state = Mutex(State.empty)

    /// Gives the waiting task, now or later, its value; says whether this was the first.
    @discardableResult
    func settle(_ value: Value) -> Bool {
        let (isFirst, parked): (Bool, CheckedContinuation<Value, Never>?) = state.withLock {
            state in
            switch state {
            case .empty:
                state = .settled(value)
                return (true, nil)
            case .parked(let continuation):
                state = .taken
                return (true, continuation)
            case .settled, .taken:
                return (false, nil)
            }
        }
        parked?.resume(returning: value)
        return isFirst
    }

    /// Waits for the value, whatever happens to the task. Called once.
    /// - Parameters:
    ///   - site: What it waits for, and where; for a test that finds everything at a standstill.
    ///   - label: The name that the owner of this place goes by.
    nonisolated(nonsending) func value(
        at site: Site = Site("a value"), _ label: @autoclosure () -> String = ""
    ) async -> Value {
        guard let live = LiveWork.watching else { return await park() }
        let id = live.begin(.wait, site, label())
        defer { live.end(id) }
        return await park()
    }

    private nonisolated(nonsending) func park() async -> Value {
        await withCheckedContinuation { continuation in
            let settled: Value? = state.withLock { state in
                switch state {
                case .empty:
                    state = .parked(continuation)
                    return nil
                case .settled(let value):
                    state = .taken
                    return value
                case .parked, .taken:
                    preconditionFailure("one task waits at one parking")
                }
            }
            if let settled { continuation.resume(returning: settled) }
        }
    }

    /// Waits for the value, or until the task is cancelled, which settles it with `cancelled`.
    nonisolated(nonsending) func value(
        cancelled: Value, at site: Site, _ label: @autoclosure () -> String = ""
    ) async -> Value {
        await withTaskCancellationHandler {
            await value(at: site, label())
        } onCancel: {
            settle(cancelled)
        }
    }
}
