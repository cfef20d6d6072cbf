/// The work of one stay in a state.
struct StateTask: Sendable {
    private let task: Task<Void, Never>
    private let ended = Completion<Bool>()
    private let cause: CauseBox
    private let abandonment: Abandonment
    private let leaveTimeout: Duration
    private let clock: AnyClock

    init(
        _ label: String, leaveTimeout: Duration, _ clock: AnyClock,
        _ body: @escaping @Sendable () async throws -> Void
    ) {
        var context = Context.current
        let cause = CauseBox(inside: context.cause)
        context.cause = cause
        context.path = ScopePath(label, inside: context.path)
        let abandonment = Abandonment(label: label, clock: clock)
        let ended = ended
        self.cause = cause
        self.abandonment = abandonment
        self.leaveTimeout = leaveTimeout
        self.clock = clock
        task = spawn { [context] in
            await withContext(context) {
                var failure: (any Error)?
                do { try await body() } catch { failure = error }
                abandonment.end(throwing: failure)
                ended.fulfil(true)
            }
        }
    }

    /// Cancels it, and waits for its end within its time, whatever happens to the caller.
    /// - Returns: Whether it was left behind.
    nonisolated(nonsending) func stop(_ reason: CancellationCause) async -> Bool {
        cause.record(reason)
        task.cancel()
        if ended.value != nil { return false }
        return await shielded {
            if await ended.wait(
                for: Site("the work of a state"), until: .in(leaveTimeout, clock: clock)) != nil
            {
                return false
            }
            switch abandonment.leaveBehind(after: leaveTimeout) {
            case .abandoned:
                return true
            case .ended, .saturated:
                _ = await ended.wait(for: Site("work of a state that was left behind"))
                return false
            }
        }
    }
}
