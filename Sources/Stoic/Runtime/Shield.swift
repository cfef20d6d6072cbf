/// Runs `body` to its end although the caller is, or will be, cancelled.
///
/// Inside, nothing is cancelled unless it is cancelled by itself: sleeps, groups and deadlines
/// work. It has no bound of its own: put a deadline inside.
///
/// The one function to replace when the standard library's own shield (SE-0504) is there.
nonisolated(nonsending) func shielded<R, E: Error>(
    _ body: nonisolated(nonsending) () async throws(E) -> R
) async throws(E) -> R {
    try await runChild(
        { () async throws(E) -> R in try await body() }, cancellation: .ignored,
        suspended: { _ in })
}
