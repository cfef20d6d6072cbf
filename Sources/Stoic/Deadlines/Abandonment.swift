import Synchronization

/// Whether one piece of work that ignores its cancellation has ended, or was left behind and ends
/// later. Counts and reports what is left behind, for whoever starts the work.
final class Abandonment: Sendable {
    /// What became of the attempt to leave work behind.
    enum Decision {
        /// It has just ended; its result is there, or on its way.
        case ended
        /// It is left behind.
        case abandoned
        /// Too much is left behind already: its end must be waited for.
        case saturated
    }

    private enum State {
        case running
        case ended
        case abandoned(since: AnyClock.Instant)
    }

    private let label: String
    private let clock: AnyClock
    private let owner: AbandonedWork?
    private let state = Mutex(State.running)

    /// For work that the current task starts.
    init(label: String, clock: AnyClock) {
        self.label = label
        self.clock = clock
        owner = Context.current.abandoned
    }

    /// Leaves the work behind, if it has not ended and there is a place for it.
    /// - Parameter grace: How long it had to end; for the event.
    func leaveBehind(after grace: Duration) -> Decision {
        guard AbandonedWork.begin(for: owner) else {
            emit(.deadlineAbandonmentSaturated, .error, [.init("label", label)])
            return .saturated
        }
        let now = clock.now
        let isLeft = state.withLock { state in
            guard case .running = state else { return false }
            state = .abandoned(since: now)
            return true
        }
        guard isLeft else {
            AbandonedWork.end(for: owner)
            return .ended
        }
        emit(
            .deadlineAbandoned, .warning, [.init("label", label), .init("grace", grace.clamped)])
        return .abandoned
    }

    /// The work has ended; called once, by the work's own task.
    /// - Returns: Whether it had been left behind, and its error is reported herewith.
    @discardableResult
    func end(throwing error: (any Error)?) -> Bool {
        let abandoned: AnyClock.Instant? = state.withLock { state in
            defer { state = .ended }
            guard case .abandoned(let since) = state else { return nil }
            return since
        }
        guard let abandoned else { return false }
        AbandonedWork.end(for: owner)
        var fields: [Event.Field] = [
            .init("label", label), .init("after", abandoned.duration(to: clock.now)),
        ]
        if let error, !(error is CancellationError) {
            fields.append(.init("error", describing: error))
        }
        emit(.deadlineAbandonedReturned, .notice, fields)
        return true
    }
}

extension EventName {
    /// Work ignored its cancellation and was left behind. Fields: `label`, `grace`.
    public static let deadlineAbandoned = EventName("deadline.abandoned")
    /// Work that was left behind has ended. Fields: `label`, `after`, and `error` if it failed.
    public static let deadlineAbandonedReturned = EventName("deadline.abandonedReturned")
    /// Too much work was left behind already, so this is waited for. Field: `label`.
    public static let deadlineAbandonmentSaturated = EventName("deadline.abandonmentSaturated")
}
