import Synchronization

/// How a body that runs in a task of its own hears that its caller is cancelled.
struct CallerCancellation: Sendable {
    /// Whether the body begins cancelled.
    let alreadyCancelled: Bool
    /// Called when the caller is cancelled while the body runs; on any thread, perhaps twice.
    let react: @Sendable (ChildHandle) -> Void
}

/// Runs `body` in a task of its own, on the caller's actor, and waits for its end.
///
/// This is the one place where an operation that may not be `Sendable` meets a second task. The
/// body starts at once, on the caller's executor, before this function suspends; a body that never
/// suspends costs no scheduling at all.
///
/// - Parameters:
///   - body: The operation. It may use anything the caller may.
///   - cancellation: What the body hears of its caller's cancellation; `nil` if it never does.
///   - suspended: Called once, synchronously, if the body did not end before its first suspension
///     and may be cancelled. It gets what cancels the body's task.
/// - Returns: What the body returned, after it has ended; nothing of it is left running.
func runChild<R, E: Error>(
    isolation: isolated (any Actor)? = #isolation,
    _ body: nonisolated(nonsending) () async throws(E) -> R,
    cancellation: CallerCancellation?,
    suspended: (ChildHandle) -> Void
) async throws(E) -> R {
    // Bare memory in place of a `Result<R, E>?`: generic code looks up each type that is made of
    // the caller's, and here these look-ups took as long as the task does.
    // SAFETY: the body's task writes one of the two, and has ended before either is read.
    let value = unsafe memory(for: R.self)
    defer { if MemoryLayout<R>.size > 0 { unsafe value.deallocate() } }
    var thrown: UnsafeMutablePointer<E>?
    let ended = Atomic<Bool>(false)
    // The closure is on the caller's actor because it captures `isolation`. Without that it would
    // leave the actor and come back, and let others run in between. It knows of the types, so that
    // what it is handed to does not: generic code costs a third more here.
    await runEscaping(
        { () async -> Void in
            _ = isolation
            do throws(E) {
                unsafe value.initialize(to: try await body())
            } catch {
                let place = UnsafeMutablePointer<E>.allocate(capacity: 1)
                unsafe place.initialize(to: error)
                unsafe thrown = place
            }
            ended.store(true, ordering: .releasing)
        }, hasEnded: { ended.load(ordering: .acquiring) }, cancellation: cancellation,
        suspended: suspended)
    precondition(ended.load(ordering: .acquiring), "a body that has ended has a result")
    if let thrown = unsafe thrown {
        defer { unsafe thrown.deallocate() }
        throw unsafe thrown.move()
    }
    return unsafe value.move()
}

/// Memory for one value. A type without any content, such as `Void`, needs none.
private func memory<R>(for type: R.Type) -> UnsafeMutablePointer<R> {
    // SAFETY: the address of a type without content is never read or written, only aligned and not
    // null.
    let alignment = MemoryLayout<R>.alignment
    guard MemoryLayout<R>.size == 0,
        let nowhere = unsafe UnsafeMutablePointer<R>(bitPattern: alignment)
    else { return .allocate(capacity: 1) }
    return unsafe nowhere
}

private func runEscaping(
    isolation: isolated (any Actor)? = #isolation,
    _ body: () async -> Void, hasEnded: () -> Bool,
    cancellation: CallerCancellation?,
    suspended: (ChildHandle) -> Void
) async {
    await withoutActuallyEscaping(body) { body in
        let beginsCancelled = cancellation?.alreadyCancelled ?? false
        // SAFETY: the task below runs on this function's actor, and this function does nothing
        // with the body until that task has ended: the two never use it at once.
        nonisolated(unsafe) let body = body
        let task: Task<Void, Never>
        // Twice the same: to hand over that there is no executor costs a third of the whole.
        if let executor = currentTaskExecutor() {
            task = Task.immediate(executorPreference: executor) {
                _ = isolation
                if beginsCancelled { cancelCurrentTask() }
                unsafe await body()
            }
        } else {
            task = Task.immediate {
                _ = isolation
                if beginsCancelled { cancelCurrentTask() }
                unsafe await body()
            }
        }
        guard let cancellation, !hasEnded() else {
            // It may have suspended, and ended on another thread, which then still holds the body:
            // it says so within the task. A task that ended here costs no suspension.
            return await task.value
        }
        let handle = ChildHandle(task)
        suspended(handle)
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            cancellation.react(handle)
        }
    }
}

/// What cancels the task of a body that `runChild` runs.
struct ChildHandle: Sendable {
    private let task: Task<Void, Never>
    init(_ task: Task<Void, Never>) { self.task = task }
    func cancel() { task.cancel() }
}

/// The executor the current task prefers, so that a task started here stays on it: the tests'
/// simulated executor loses no job of ours.
func currentTaskExecutor() -> (any TaskExecutor)? {
    // SAFETY: the task is used within the closure only, and the executor is retained by the copy
    // that leaves it.
    unsafe withUnsafeCurrentTask { task in
        guard let executor = unsafe task?.unownedTaskExecutor else { return nil }
        return unsafe executor.asTaskExecutor()
    }
}

/// Cancels the task that calls this.
func cancelCurrentTask() {
    // SAFETY: the task is used within the closure only, by itself.
    unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
}
