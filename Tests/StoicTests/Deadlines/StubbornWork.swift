@testable import Stoic

/// Takes `duration` on the ambient clock, whatever happens to its task.
func workStubbornly(_ duration: Duration) async {
    await shielded { _ = await Deadline.in(duration).sleep() }
}

/// Takes `duration` on the ambient clock, or ends with `CancellationError`.
func workPolitely(_ duration: Duration) async throws {
    try await Ambient.current.clock.sleep(for: duration)
}

struct OwnError: Error, Hashable { var number = 7 }
