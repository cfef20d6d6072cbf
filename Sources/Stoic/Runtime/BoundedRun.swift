/// How a bounded piece of cleanup ended.
enum BoundedEnd<R: Sendable>: Sendable {
    /// It ended by itself, in time or after it was cancelled.
    case ended(Result<R, any Error>, afterItsTime: Bool)
    /// It ignored its cancellation too, and was left behind.
    case abandoned
}

/// What a bounded piece of cleanup needs to know.
struct BoundedRun {
    /// What events call it.
    let label: String
    /// Whose time counts.
    let clock: AnyClock
    /// How long it may take, and how long the wait is after it was cancelled.
    let slot: StopSlot
    /// Who counts it if it is left behind.
    let owner: AbandonedWork?

    /// Runs `work` in a task of its own, cancels it when its time is over, and leaves it behind
    /// when it ignores that. The caller's own cancellation changes nothing.
    ///
    /// Where too much was left behind in the process already, it is awaited instead.
    /// - Parameters:
    ///   - work: The work; its context has a deadline and a cause of its own.
    ///   - late: Called when work that was left behind ends after all.
    func run<R: Sendable>(
        _ work: @escaping @Sendable () async throws -> R,
        late: @escaping @Sendable (Result<R, any Error>) -> Void
    ) async -> BoundedEnd<R> {
        let begin = clock.now
        let cancelAt = deadline(begin, after: slot.beforeKill)
        let leaveAt = deadline(begin, after: slot.beforeKill.saturatingSum(slot.afterKill))
        let cause = CauseBox(inside: nil)
        var context = Context.current
        context.cause = cause
        context.ambient.deadline = cancelAt
        let ended = Completion<Result<R, any Error>>()
        let task = spawn { [context] in
            await withContext(context) {
                let result: Result<R, any Error>
                do { result = .success(try await work()) } catch { result = .failure(error) }
                ended.fulfil(result)
            }
        }
        return await shielded {
            if let result = await ended.wait(for: Site("the end of cleanup"), until: cancelAt) {
                return .ended(result, afterItsTime: false)
            }
            cause.record(.deadlineExpired)
            task.cancel()
            let cut = Site("the end of cleanup that was cancelled")
            if let result = await ended.wait(for: cut, until: leaveAt) {
                return .ended(result, afterItsTime: true)
            }
            return await leave(ended, late: late)
        }
    }

    private func deadline(_ begin: AnyClock.Instant, after wait: Duration) -> Deadline {
        Deadline(clock: clock, instant: begin.advanced(by: wait), limit: wait)
    }

    private func leave<R: Sendable>(
        _ ended: Completion<Result<R, any Error>>,
        late: @escaping @Sendable (Result<R, any Error>) -> Void
    ) async -> BoundedEnd<R> {
        guard AbandonedWork.begin(for: owner) else {
            emit(.deadlineAbandonmentSaturated, .error, [.init("label", label)])
            let saturated = Site("the end of cleanup that may not be left behind")
            guard let result = await ended.wait(for: saturated) else {
                preconditionFailure("a shielded wait ended without a value")
            }
            return .ended(result, afterItsTime: true)
        }
        let owner = owner
        // Accounted for by `AbandonedWork`: this task ends when what was left behind does.
        _ = spawn {
            let left = Site("the end of cleanup that was left behind")
            guard let result = await ended.wait(for: left) else { return }
            AbandonedWork.end(for: owner)
            late(result)
        }
        return .abandoned
    }
}
