/// What opens, is used and closes together. Its handle is lent to the body of `withScope`, and the
/// compiler refuses to let it out: nothing can be opened in a scope that has closed.
///
/// ```swift
/// try await withScope("import") { (scope: borrowing Scope) in
///     let file = try await scope.acquire("file") { try await File.open(path) }
///         close: { file, exit in try await file.close() }
///     scope.fork("progress") { await showProgress() }
///     try await copy(from: file)
/// }
/// ```
/// Write the type of the closure's parameter: without it this compiler crashes where it should
/// refuse an escaping handle.
public struct Scope: ~Copyable, Sendable {
    let core: ScopeCore

    /// Opens something, and closes it when the scope ends, whatever happens in between: what `open`
    /// returned is registered before anything can be cancelled.
    /// - Parameters:
    ///   - label: Its name in events.
    ///   - timeout: How long closing may take; at most its fair share of the scope's budget.
    ///   - policy: What to do if work that may still use it was left behind in this scope.
    ///   - open: Opens it. It sees the caller's cancellation.
    ///   - close: Closes it, shielded, told how the scope ended.
    /// - Throws: What `open` throws; then there is nothing to close.
    public nonisolated(nonsending) func acquire<T: Sendable, E: Error>(
        _ label: String, release timeout: Duration = .seconds(5),
        ifWorkAbandoned policy: AbandonPolicy = .close,
        _ open: nonisolated(nonsending) () async throws(E) -> T,
        close: @escaping @Sendable (T, Exit) async throws -> Void
    ) async throws(E) -> T {
        let value = try await open()
        core.register(
            Finalizer(label: label, timeout: timeout, policy: policy) { exit in
                try await close(value, exit)
            })
        return value
    }

    /// Runs `finalizer` when the scope ends: the last one registered first, shielded, within
    /// `timeout` and its fair share of the scope's budget.
    public func onExit(
        _ label: String, timeout: Duration = .seconds(5),
        _ finalizer: @escaping @Sendable (Exit) async throws -> Void
    ) {
        core.register(Finalizer(label: label, timeout: timeout, policy: .close, run: finalizer))
    }

    /// A handle to register finalizers with from work of the scope: from forks, and from
    /// finalizers themselves.
    public var cleanup: Cleanup { Cleanup(core: core) }

    /// Starts work beside the body. It is cancelled when the body ends, and awaited before the
    /// first finalizer runs, for at most five seconds; then it is left behind, counted and
    /// reported.
    /// - Parameter failure: What its failure means for the scope; by default it cancels the body.
    public func fork(
        _ label: String, onFailure failure: ForkFailure = .cancelScope,
        _ work: @escaping @Sendable () async throws -> Void
    ) {
        core.fork(label, failure, work)
    }

    /// Cancels the body and the forks. The first cause stays.
    public func cancel(cause: CancellationCause) { core.cancel(cause) }

    /// How much work that ignored its cancellation still runs within this scope.
    public var abandonedWork: Int { core.abandoned.count }

    /// What to do with a resource when work that may use it was left behind.
    public enum AbandonPolicy: Hashable, Sendable {
        /// Close it all the same.
        case close
        /// Leak it on purpose, and report that: closing it under a call that uses it is worse.
        case quarantine
    }

    /// What the failure of a fork means for its scope.
    public enum ForkFailure: Hashable, Sendable {
        /// The body is cancelled with the cause `.siblingFailed`, and the failure comes out of
        /// `withScope` where its error type can hold a `ConcurrentFailure`.
        case cancelScope
        /// It is reported, and the scope goes on.
        case isolated
    }

    /// Registers finalizers of a scope from work inside it.
    public struct Cleanup: Sendable {
        let core: ScopeCore

        /// Runs `finalizer` when the scope ends; next, if the scope ends already. Once the scope
        /// has closed it is refused.
        /// - Returns: Whether it will run.
        @discardableResult
        public func onExit(
            _ label: String, timeout: Duration = .seconds(5),
            _ finalizer: @escaping @Sendable (Exit) async throws -> Void
        ) -> Bool {
            core.register(Finalizer(label: label, timeout: timeout, policy: .close, run: finalizer))
        }
    }
}

/// One thing to do when a scope ends.
struct Finalizer: Sendable {
    let label: String
    let timeout: Duration
    let policy: Scope.AbandonPolicy
    let run: @Sendable (Exit) async throws -> Void
}
