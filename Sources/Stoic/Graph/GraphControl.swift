import Synchronization

/// What the copies of one graph share: whether its stop was asked for, who runs and who listens.
final class GraphControl: Sendable {
    private struct State {
        var stopCause: CancellationCause?
        var runs: [ObjectIdentifier: GraphRun] = [:]
        var listeners: [UInt64: AsyncStream<Event>.Continuation] = [:]
        var nextListener: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Unread events a listener keeps.
    private static let mostUnread = 1_024

    var stopCause: CancellationCause? { state.withLock { $0.stopCause } }

    func enter(_ run: GraphRun) {
        let cause = state.withLock { state in
            state.runs[ObjectIdentifier(run)] = run
            return state.stopCause
        }
        if let cause { run.requestStop(cause) }
    }

    func leave(_ run: GraphRun) {
        _ = state.withLock { $0.runs.removeValue(forKey: ObjectIdentifier(run)) }
    }

    func requestStop(_ cause: CancellationCause) {
        let runs: [GraphRun] = state.withLock { state in
            guard state.stopCause == nil else { return [] }
            state.stopCause = cause
            return Array(state.runs.values)
        }
        for run in runs { run.requestStop(cause) }
    }

    /// Cuts every stop short: what runs is cancelled now, and left behind if it ignores that.
    func force() {
        for run in state.withLock({ Array($0.runs.values) }) { run.force() }
    }

    /// What every run is doing, for people.
    var summary: [String] {
        state.withLock { Array($0.runs.values) }.flatMap { $0.summary }
    }

    func events() -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Event.self, bufferingPolicy: .bufferingNewest(Self.mostUnread))
        let id = state.withLock { state in
            state.nextListener += 1
            state.listeners[state.nextListener] = continuation
            return state.nextListener
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: id) }
        }
        return stream
    }

    /// Whether anybody listens.
    var isHeard: Bool { state.withLock { !$0.listeners.isEmpty } }

    /// Hands an event to whoever listens.
    func publish(_ event: Event) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(event) }
    }
}
