/// Runs `operation` until `deadline`, and leaves it behind if it ignores its cancellation.
///
/// For work that cannot be cancelled: a call into a library that waits for something hung. After
/// the deadline, or when the caller is cancelled, the operation is cancelled and has `grace` to
/// end; what it says until then counts as with `withTimeout`. Then this call returns, and the
/// operation runs on alone: counted by the scope around it, at most 64 in a process, and reported
/// when it ends after all, its result dropped. Over 64 nothing is left behind any more: the call
/// waits for the operation, and says so at error level.
///
/// ```swift
/// let disk = try await withAbandoningDeadline(.in(.seconds(2)), label: "mount") {
///     await mount("/dev/sdb1")
/// }
/// ```
/// - Parameters:
///   - deadline: When the operation is cancelled, and on which clock.
///   - label: What it is called in events.
///   - grace: How long it may take to end after its cancellation, on the deadline's clock.
///   - operation: What runs in a task of its own, beside the caller.
/// - Throws: `PolicyError<E>`: `.rejected(.deadlinePassed)` if the operation did not run,
///   `.rejected(.abandoned)` if it was left behind, `.failed` with `DeadlineExceeded` if it was cut
///   and said nothing else, or with its own error; `CancellationError` if the caller was cancelled.
public nonisolated(nonsending) func withAbandoningDeadline<R: Sendable, E: Error>(
    _ deadline: Deadline, label: String, grace: Duration = .seconds(1),
    operation: @escaping @Sendable () async throws(E) -> R
) async throws -> R {
    try Task.checkCancellation()
    guard !deadline.hasPassed else {
        deadline.reportRefused()
        throw rejected(.deadlinePassed, as: E.self)
    }
    let run = AbandonableRun<R, E>(deadline: deadline, label: label)
    let task = await run.start(operation)
    _ = await run.ended.wait(for: Site("work with a deadline"), until: deadline)
    if run.ended.value == nil {
        let isCut = !Task.isCancelled && run.cause.record(.deadlineExpired)
        if !isCut { run.cause.recordCaller() }
        task.cancel()
        if isCut { deadline.reportExpired() }
        return try await run.finish(isCut: isCut, grace: grace)
    }
    return try run.result()
}

/// One operation that may be left behind.
private final class AbandonableRun<R: Sendable, E: Error>: Sendable {
    let cause: CauseBox
    let ended = Completion<Result<R, E>>()
    private let deadline: Deadline
    private let abandonment: Abandonment

    init(deadline: Deadline, label: String) {
        cause = CauseBox(inside: Context.current.cause)
        abandonment = Abandonment(label: label, clock: deadline.clock)
        self.deadline = deadline
    }

    nonisolated(nonsending) func start(
        _ operation: @escaping @Sendable () async throws(E) -> R
    ) async -> Task<Void, Never> {
        var context = Context.current
        context.cause = cause
        context.ambient.deadline = deadline.earlier(than: context.ambient.deadline)
        return await withContext(context) {
            spawn { [abandonment, ended] in
                do throws(E) {
                    let value = try await operation()
                    abandonment.end(throwing: nil)
                    ended.fulfil(.success(value))
                } catch {
                    abandonment.end(throwing: error)
                    ended.fulfil(.failure(error))
                }
            }
        }
    }

    /// Waits for the end of work that was cancelled, within `grace` if it may be left behind.
    nonisolated(nonsending) func finish(isCut: Bool, grace: Duration) async throws -> R {
        let told = deadline.clock.now
        // The caller may be cancelled, and this wait has its own bound.
        await shielded {
            let cut = Site("work that was cancelled")
            _ = await ended.wait(for: cut, until: .in(grace, clock: deadline.clock))
        }
        if ended.value == nil {
            switch abandonment.leaveBehind(after: grace) {
            case .abandoned:
                throw isCut ? rejected(.abandoned, as: E.self) : CancellationError()
            case .ended, .saturated:
                let saturated = Site("work that may not be left behind")
                await shielded { _ = await ended.wait(for: saturated) }
            }
        }
        if isCut, let result = ended.value {
            deadline.reportLateness(of: result, told: told)
        }
        return try result(isCut: isCut)
    }

    /// What the work ended with before anybody cancelled it; it may have been late all the same.
    func result() throws -> R {
        if let result = ended.value, deadline.clock.now > deadline.instant {
            deadline.reportLateness(of: result, told: deadline.instant)
        }
        return try result(isCut: false)
    }

    private func result(isCut: Bool) throws -> R {
        switch ended.value {
        case .success(let value): return value
        case .failure(let error): throw deadline.classify(error, isCut: isCut)
        case nil: preconditionFailure("work that has ended has a result")
        }
    }
}
