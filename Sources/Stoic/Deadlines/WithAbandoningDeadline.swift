import Synchronization

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
/// let disk = try await withAbandoningDeadline(.in(.seconds(2)), label: "mount") { mount() }
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
        throw PolicyError<E>.rejected(.deadlinePassed)
    }
    let run = AbandonableRun<R, E>(deadline: deadline, label: label)
    let task = await run.start(operation)
    _ = await run.ended.wait(until: deadline)
    if run.ended.value == nil {
        let isCut = !Task.isCancelled && run.cause.record(.deadlineExpired)
        if !isCut { run.cause.recordCaller() }
        task.cancel()
        if isCut { deadline.reportExpired() }
        return try await run.finish(isCut: isCut, grace: grace)
    }
    return try run.result(isCut: false)
}

/// One operation that may be left behind.
private final class AbandonableRun<R: Sendable, E: Error>: Sendable {
    private enum State {
        case running
        case ended
        case abandoned(since: AnyClock.Instant)
    }

    let cause: CauseBox
    let ended = Completion<Result<R, E>>()
    private let deadline: Deadline
    private let label: String
    private let owner: AbandonedWork?
    private let state = Mutex(State.running)

    init(deadline: Deadline, label: String) {
        let context = Context.current
        cause = CauseBox(inside: context.cause)
        owner = context.abandoned
        self.deadline = deadline
        self.label = label
    }

    nonisolated(nonsending) func start(
        _ operation: @escaping @Sendable () async throws(E) -> R
    ) async -> Task<Void, Never> {
        var context = Context.current
        context.cause = cause
        context.ambient.deadline = deadline.earlier(than: context.ambient.deadline)
        return await withContext(context) {
            spawn {
                let result: Result<R, E>
                do throws(E) {
                    result = .success(try await operation())
                } catch {
                    result = .failure(error)
                }
                self.end(with: result)
            }
        }
    }

    private func end(with result: Result<R, E>) {
        let abandoned: AnyClock.Instant? = state.withLock { state in
            defer { state = .ended }
            guard case .abandoned(let since) = state else { return nil }
            return since
        }
        ended.fulfil(result)
        guard let abandoned else { return }
        AbandonedWork.end(for: owner)
        var fields: [Event.Field] = [
            .init("label", label), .init("after", abandoned.duration(to: deadline.clock.now)),
        ]
        if case .failure(let error) = result, !(error is CancellationError) {
            fields.append(.init("error", describing: error))
        }
        emit(.deadlineAbandonedReturned, .notice, fields)
    }

    /// Waits for the end of work that was cancelled, within `grace` if it may be left behind.
    nonisolated(nonsending) func finish(isCut: Bool, grace: Duration) async throws -> R {
        let told = deadline.clock.now
        // The caller may be cancelled, and this wait has its own bound.
        await shielded {
            _ = await ended.wait(until: .in(grace, clock: deadline.clock))
        }
        if ended.value == nil {
            guard AbandonedWork.begin(for: owner) else {
                emit(.deadlineAbandonmentSaturated, .error, [.init("label", label)])
                await shielded { _ = await ended.wait() }
                return try late(isCut: isCut, since: told)
            }
            if abandon() {
                emit(
                    .deadlineAbandoned, .warning,
                    [.init("label", label), .init("grace", grace.clamped)])
                throw isCut ? PolicyError<E>.rejected(.abandoned) : CancellationError()
            }
            // It ended between the look and the leaving; its result is on its way.
            AbandonedWork.end(for: owner)
            await shielded { _ = await ended.wait() }
        }
        return try late(isCut: isCut, since: told)
    }

    private func abandon() -> Bool {
        let now = deadline.clock.now
        return state.withLock { state in
            guard case .running = state else { return false }
            state = .abandoned(since: now)
            return true
        }
    }

    private func late(isCut: Bool, since told: AnyClock.Instant) throws -> R {
        if isCut, let result = ended.value {
            deadline.reportLateness(of: result, since: told, isCut: true)
        }
        return try result(isCut: isCut)
    }

    func result(isCut: Bool) throws -> R {
        switch ended.value {
        case .success(let value): return value
        case .failure(let error): throw deadline.classify(error, isCut: isCut)
        case nil: preconditionFailure("work that has ended has a result")
        }
    }
}

extension EventName {
    /// Work ignored its cancellation and was left behind. Fields: `label`, `grace`.
    public static let deadlineAbandoned = EventName("deadline.abandoned")
    /// Work that was left behind has ended. Fields: `label`, `after`, and `error` if it failed.
    public static let deadlineAbandonedReturned = EventName("deadline.abandonedReturned")
    /// Too much work was left behind already, so this call waits. Field: `label`.
    public static let deadlineAbandonmentSaturated = EventName("deadline.abandonmentSaturated")
}
