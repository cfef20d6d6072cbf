import StoicTesting
import Testing

@testable import Stoic

/// What never suspends must not let anybody in between: a job that waits for the actor shows it.
@Suite("Work that never suspends keeps its actor", .timeLimit(.minutes(1)))
@MainActor
struct NoHopTests {
    private func keepsActor(
        _ name: String, _ body: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        var hasRun = false
        let waiting = Task { @MainActor in hasRun = true }
        try await body()
        #expect(!hasRun, "\(name) left the actor")
        await waiting.value
    }

    @Test("AMB-7: ambient, shield, deadlines, granted time: nobody runs in between, silent")
    func keep() async throws {
        let deadline = Deadline.in(.seconds(3_600))
        try await keepsActor("withAmbient") {
            await withAmbient { _ in
            } operation: {
            }
        }
        try await keepsActor("shielded") { await shielded {} }
        try await keepsActor("withDeadline") { await withDeadline(deadline) {} }
        try await keepsActor("shielded, within a deadline") {
            await withDeadline(deadline) { await shielded {} }
        }
        try await keepsActor("withTimeout") { try await withTimeout(.seconds(3_600)) {} }
        try await keepsActor("ExpiringWork.run") {
            await ExpiringWork(grantSeconds: 25).run { _ in }
        }
        try await keepsActor("ExpiringWork.run, without a grant") {
            await ExpiringWork(grantSeconds: nil).run { _ in }
        }
    }
}
