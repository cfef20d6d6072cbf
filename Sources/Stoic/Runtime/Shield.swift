/// Runs `body` to its end although the caller is, or will be, cancelled.
///
/// Inside, nothing is cancelled unless it is cancelled by itself: sleeps, groups and deadlines
/// work. It has no bound of its own: put a deadline inside.
///
/// What ends the caller does not end the shield: `Deadline.current` and `Cancellation.cause` know
/// only of deadlines and owners inside.
///
/// The one function to replace when the standard library's own shield (SE-0504) is there.
package nonisolated(nonsending) func shielded<R, E: Error>(
    _ body: nonisolated(nonsending) () async throws(E) -> R
) async throws(E) -> R {
    guard Context.isBounded else {
        return try await runChild(body, cancellation: nil, suspended: { _ in })
    }
    var context = Context.current
    context.ambient.deadline = nil
    context.cause = nil
    return try await withContext(context) { () async throws(E) -> R in
        try await runChild(body, cancellation: nil, suspended: { _ in })
    }
}
