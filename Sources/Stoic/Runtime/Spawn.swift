/// Starts a task that its caller accounts for: every one is held, and cancelled or awaited, by an
/// owner. It stays on the executor of the current task, and inherits its context.
///
/// The only way this library starts a task that may outlive a call.
func spawn<R: Sendable>(_ body: @escaping @Sendable () async -> R) -> Task<R, Never> {
    Task(executorPreference: currentTaskExecutor()) { await body() }
}
