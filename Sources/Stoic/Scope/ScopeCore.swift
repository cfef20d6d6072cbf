import Synchronization

/// What a scope holds. The handle goes to the body; this goes to its forks and finalizers.
final class ScopeCore: Sendable {
    private enum Phase {
        case open
        /// Forks are refused; finalizers may still register others.
        case closing
        case closed
    }

    private struct State {
        var phase = Phase.open
        var finalizers: [Finalizer] = []
        var forks: [UInt64: Fork] = [:]
        var nextFork: UInt64 = 0
        var failures: [any Error] = []
    }

    /// Work beside the body.
    struct Fork: Sendable {
        let label: String
        let task: Task<Void, Never>
        let ended: Completion<Void>
    }

    let label: String
    let cause: CauseBox
    /// The body of `withScope`.
    let body: OwnedBody
    let abandoned: AbandonedWork
    /// The context of everything inside.
    let context: Context
    private let state = Mutex(State())

    init(_ label: String) {
        self.label = label
        var context = Context.current
        cause = CauseBox(inside: context.cause)
        body = OwnedBody(cause)
        abandoned = AbandonedWork(inside: context.abandoned)
        context.cause = cause
        context.abandoned = abandoned
        context.path = ScopePath(label, inside: context.path)
        self.context = context
    }

    /// Adds a finalizer; `false`, and an event, once the scope has closed.
    @discardableResult
    func register(_ finalizer: Finalizer) -> Bool {
        let isOpen = state.withLock { state in
            guard state.phase != .closed else { return false }
            state.finalizers.append(finalizer)
            return true
        }
        if !isOpen { rejected(finalizer.label) }
        return isOpen
    }

    func takeLastFinalizer() -> (finalizer: Finalizer, left: Int)? {
        state.withLock { state in
            guard let last = state.finalizers.popLast() else {
                state.phase = .closed
                return nil
            }
            return (last, state.finalizers.count)
        }
    }

    func fork(
        _ label: String, _ failure: Scope.ForkFailure,
        _ work: @escaping @Sendable () async throws -> Void
    ) {
        let ended = Completion<Void>()
        // The number comes first: the fork may end before it is in the table.
        let id: UInt64? = state.withLock { state in
            guard state.phase == .open else { return nil }
            state.nextFork += 1
            return state.nextFork
        }
        guard let id else { return rejected(label) }
        let task = spawn { [self] in
            await withContext(context) {
                do { try await work() } catch { noteFailure(error, of: label, failure) }
            }
            ended.fulfil(())
            forget(id)
        }
        let isCancelled = state.withLock { state in
            if ended.value == nil { state.forks[id] = Fork(label: label, task: task, ended: ended) }
            return cause.own != nil
        }
        if isCancelled { task.cancel() }
    }

    /// Cancels the body and the forks for this reason, unless there was one before.
    func cancel(_ reason: CancellationCause) {
        body.cancel(reason)
        for fork in state.withLock({ Array($0.forks.values) }) { fork.task.cancel() }
    }

    /// Refuses forks from now on, and gives back those that run.
    func beginClosing() -> [Fork] {
        state.withLock { state in
            state.phase = .closing
            return state.forks.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    /// The failures of forks that count, in the order they came.
    var failures: [any Error] { state.withLock { $0.failures } }

    private func noteFailure(_ error: any Error, of label: String, _ kind: Scope.ForkFailure) {
        guard !(error is CancellationError) else { return }
        emit(
            .scopeForkFailed, error is any Defect ? .error : .warning,
            [.init("fork", label), .init("error", describing: error)])
        switch kind {
        case .isolated: return
        case .cancelScope:
            state.withLock { $0.failures.append(error) }
            cancel(.siblingFailed)
        }
    }

    private func forget(_ id: UInt64) { state.withLock { state in state.forks[id] = nil } }

    private func rejected(_ label: String) {
        emit(.scopeRejectedAfterClose, .error, [.init("scope", self.label), .init("label", label)])
    }
}
