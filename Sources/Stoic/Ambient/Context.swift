/// All that a task carries along, in one task-local value: its surroundings, and what owns it.
struct Context: Sendable {
    /// What users see and change.
    var ambient: Ambient
    /// Where the innermost owner records why it cancels its work.
    var cause: CauseBox?
    /// The scopes, supervisors and services around the work, for events.
    var path: ScopePath?
    /// Who counts the work that was left behind here.
    var abandoned: AbandonedWork?
    /// The retries around the work.
    var retries: RetryPath?

    /// The context of the current task.
    static var current: Context { stored?.context ?? standard }

    /// Whether a deadline or an owner is around the work. Costs less than a copy of the context.
    static var isBounded: Bool { stored?.isBounded ?? false }

    private static let standard = Context(ambient: .standard)

    /// The task-local itself holds a reference, so that reading it copies no more than that.
    @TaskLocal fileprivate static var stored: Box?

    fileprivate final class Box: Sendable {
        let context: Context
        let isBounded: Bool

        init(_ context: Context) {
            self.context = context
            isBounded = context.ambient.deadline != nil || context.cause != nil
        }
    }
}

/// Where an event came from: the labels of its owners, the innermost last.
final class ScopePath: Sendable {
    let label: String
    let outer: ScopePath?

    init(_ label: String, inside outer: ScopePath?) {
        self.label = label
        self.outer = outer
    }

    /// The labels, the outermost first.
    var labels: [String] {
        var labels: [String] = []
        var next: ScopePath? = self
        while let path = next {
            labels.append(path.label)
            next = path.outer
        }
        return labels.reversed()
    }
}

/// Runs `operation` with another context, on the caller's actor.
nonisolated(nonsending) func withContext<R, E: Error>(
    _ context: Context, _ operation: nonisolated(nonsending) () async throws(E) -> R
) async throws(E) -> R {
    try await bind(Context.Box(context), operation)
}

/// The closure given to `withValue` is on the caller's actor because it captures `isolation`.
/// Without it the compiler leaves the actor and comes back: what never suspends would suspend, let
/// others run in between, and cost twenty times as much.
private func bind<R, E: Error>(
    isolation: isolated (any Actor)? = #isolation, _ box: Context.Box,
    _ operation: nonisolated(nonsending) () async throws(E) -> R
) async throws(E) -> R {
    // `withValue` only rethrows, which loses the error's type; a result keeps it.
    let result: Result<R, E> = await Context.$stored.withValue(box) {
        _ = isolation
        do throws(E) {
            return .success(try await operation())
        } catch {
            return .failure(error)
        }
    }
    return try result.get()
}
