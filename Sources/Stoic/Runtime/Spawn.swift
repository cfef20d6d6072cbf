/// Starts a task that its caller accounts for: every one is held, and cancelled or awaited, by an
/// owner. It stays on the executor of the current task, and inherits its context.
///
/// The only way this library starts a task that may outlive a call.
func spawn<R: Sendable>(
    file: StaticString = #fileID, line: Int = #line, _ body: @escaping @Sendable () async -> R
) -> Task<R, Never> {
    guard let live = LiveWork.watching else {
        return Task(executorPreference: currentTaskExecutor()) { await body() }
    }
    let site = Site("a task", file: file, line: line)
    let id = live.begin(.task, site)
    return Task(executorPreference: currentTaskExecutor()) {
        live.enter(site)
        defer { live.end(id) }
        return await body()
    }
}
