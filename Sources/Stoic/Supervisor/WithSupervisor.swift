import Synchronization

/// Keeps children running while a body runs. Its handle is lent to the body of `withSupervisor`.
///
/// ```swift
/// try await withSupervisor("sync") { (supervisor: borrowing Supervisor) in
///     try supervisor.add(ChildSpec("uploads") { try await upload() })
///     try supervisor.add(ChildSpec("import", restart: .transient) { try await importOnce() })
///     await supervisor.waitForEnd()
/// }
/// ```
public struct Supervisor: ~Copyable, Sendable {
    let core: SupervisorCore

    /// Starts a child, after those that were added before it.
    /// - Throws: `SupervisorError.shuttingDown` once the supervisor stops.
    public func add(_ child: ChildSpec) throws(SupervisorError) { try core.add(child) }

    /// Waits until the supervisor has ended by itself: by escalation, or by its rule for
    /// significant children. Returns at once when the caller is cancelled.
    public nonisolated(nonsending) func waitForEnd() async {
        _ = await core.idle.wait(for: Site("the end of the children"))
    }

    /// How many children run now.
    public var runningCount: Int {
        core.state.withLock { state in
            state.children.count { child in
                guard case .running = child.phase else { return false }
                return true
            }
        }
    }
}

/// Runs `body`, on the caller's actor, with a supervisor whose children run beside it, run again by
/// its rules when they end, and are stopped in reverse when the body ends.
///
/// - Parameters:
///   - label: Its name in events.
///   - rules: What follows the end of a child.
///   - exitBudget: How long stopping all children may take; default 30 s.
///   - clock: Whose time delays, windows and stops take; unless given, the ambient clock for delays
///     and windows, and the ambient liveness clock for stops. Children keep the ambient ones.
///   - body: Gets the supervisor on loan. Write `(supervisor: borrowing Supervisor) in`.
/// - Throws: What `body` throws; `SupervisorError` when a child failed too often or beyond mending.
///   Then the body is cancelled with the cause `.siblingFailed`.
public nonisolated(nonsending) func withSupervisor<R>(
    _ label: String, _ rules: Supervision = Supervision(), exitBudget: Duration = .seconds(30),
    clock: (any Clock<Duration>)? = nil,
    body: nonisolated(nonsending) (borrowing Supervisor) async throws -> R
) async throws -> R {
    let core = SupervisorCore(label, rules, clock: clock)
    let result: Result<R, any Error> = await withContext(core.context) {
        let loop = spawn { await SupervisorLoop(core: core, exitBudget: exitBudget).run() }
        let result = await runBody(body, core)
        core.state.withLock { $0.isClosing = true }
        core.mailbox.send(.close)
        // The loop bounds itself: its last act is to stop every child within the budget.
        await shielded { await loop.value }
        return result
    }
    if let failure = core.state.withLock({ $0.failure }) { throw failure }
    return try result.get()
}

private nonisolated(nonsending) func runBody<R>(
    _ body: nonisolated(nonsending) (borrowing Supervisor) async throws -> R, _ core: SupervisorCore
) async -> Result<R, any Error> {
    do {
        return .success(
            try await core.body.run { () async throws -> R in
                try await body(Supervisor(core: core))
            })
    } catch {
        return .failure(error)
    }
}
