/// Runs `body` with a scope of its own, on the caller's actor, and ends the scope however the body
/// ends: forks are cancelled and awaited, then what was acquired is released in reverse order,
/// shielded from cancellation, each bounded, all within `exitBudget`.
///
/// - Parameters:
///   - label: Its name in events.
///   - exitBudget: How long the whole end may take; default 30 s.
///   - clock: Whose time the end takes; the ambient liveness clock unless given.
///   - body: Gets the scope on loan. Write `(scope: borrowing Scope) in`.
/// - Throws: What `body` throws. Failed forks come out beside it as `ConcurrentFailure` where `E`
///   can hold one, and are reported in any case. Failed finalizers are reported, never thrown.
public nonisolated(nonsending) func withScope<R, E: Error>(
    _ label: String, exitBudget: Duration = .seconds(30), clock: (any Clock<Duration>)? = nil,
    body: nonisolated(nonsending) (borrowing Scope) async throws(E) -> R
) async throws(E) -> R {
    let core = ScopeCore(label)
    let time = CallClocks(given: clock, in: core.context.ambient).liveness
    let live = LiveWork.watching
    let open = live?.begin(.scope, Site("a scope"), label)
    defer { if let open { live?.end(open) } }
    let result: Result<R, E> = await withContext(core.context) {
        await runBody(body, core)
    }
    let before = core.failures
    await withContext(core.context) {
        let exit = core.exit(of: result.failure, besideFailed: before)
        await shielded {
            await ScopeExit(core, exit: exit, end: .in(exitBudget, clock: time)).run()
        }
    }
    let forks = core.failures
    if !forks.isEmpty {
        // In the order they came: what failed while the body ran, the body, what failed after it.
        let own = [result.failure].compactMap { $0 }.filter { !($0 is CancellationError) }
        let all = forks.prefix(before.count) + own + forks.dropFirst(before.count)
        if let thrown = ConcurrentFailure<any Error>(Array(all)) as? E { throw thrown }
    }
    return try result.get()
}

private nonisolated(nonsending) func runBody<R, E: Error>(
    _ body: nonisolated(nonsending) (borrowing Scope) async throws(E) -> R, _ core: ScopeCore
) async -> Result<R, E> {
    emit(.scopeOpened, .debug)
    do throws(E) {
        return .success(
            try await core.body.run { () async throws(E) -> R in try await body(Scope(core: core)) }
        )
    } catch {
        return .failure(error)
    }
}

extension Result {
    fileprivate var failure: Failure? {
        switch self {
        case .success: nil
        case .failure(let error): error
        }
    }
}

extension ScopeCore {
    /// What the finalizers are told.
    fileprivate func exit(of error: (any Error)?, besideFailed forks: [any Error]) -> Exit {
        if let first = forks.first { return .failure(first) }
        guard let error else { return .success }
        guard error is CancellationError else { return .failure(error) }
        return .cancelled(cause.recorded ?? .requested)
    }
}
