import Synchronization

/// A body that its owner may cancel, with a cause: that of a scope, a supervisor or a graph.
final class OwnedBody: Sendable {
    /// Where the owner records why.
    let cause: CauseBox
    private let handle = Mutex<ChildHandle?>(nil)

    init(_ cause: CauseBox) { self.cause = cause }

    /// Cancels the body for this reason, unless there was one before.
    ///
    /// The cause is recorded before the handle is looked up, and `suspended` looks at them the
    /// other way round: whichever comes first, one of the two cancels.
    func cancel(_ reason: CancellationCause) {
        cause.record(reason)
        handle.withLock { $0 }?.cancel()
    }

    /// Runs `body` on the caller's actor until it ends, cancelled by its owner or its caller.
    nonisolated(nonsending) func run<R, E: Error>(
        _ body: nonisolated(nonsending) () async throws(E) -> R
    ) async throws(E) -> R {
        if Task.isCancelled { cause.recordCaller() }
        let cancellation = CallerCancellation(
            alreadyCancelled: Task.isCancelled || cause.own != nil
        ) { handle in
            self.cause.recordCaller()
            handle.cancel()
        }
        defer { handle.withLock { $0 = nil } }
        return try await runChild(
            { () async throws(E) -> R in try await body() }, cancellation: cancellation,
            suspended: { suspended($0) })
    }

    private func suspended(_ child: ChildHandle) {
        handle.withLock { $0 = child }
        if cause.own != nil { child.cancel() }
    }
}
