import StoicTesting
import Testing

@testable import Stoic

/// Runs the whole of `ShieldConformance`. Another shield is tested by another suite like this one.
@Suite("The shield", .timeLimit(.minutes(5)))
struct ShieldConformanceTests {
    private enum OwnShield: ShieldUnderTest {
        nonisolated(nonsending) static func run<R, E: Error>(
            _ body: nonisolated(nonsending) () async throws(E) -> R
        ) async throws(E) -> R {
            try await shielded(body)
        }
    }

    private typealias Conformance = ShieldConformance<OwnShield>

    @Test("SHD-1: the caller is cancelled: nothing inside is, sleeps are whole")
    func sleep() async throws { try await Conformance.sleep() }

    @Test("SHD-2: groups and children inside are not cancelled")
    func groups() async throws { try await Conformance.groups() }

    @Test("SHD-3: deadlines inside work, and only they pass")
    func deadlines() async throws { try await Conformance.deadlines() }

    @Test("SHD-4: task-locals are kept, and rebound")
    func taskLocals() async { await Conformance.taskLocals() }

    @Test("SHD-5: the caller's actor is kept, and what is not Sendable")
    @MainActor func actors() async {
        await Conformance.mainActor()
        await Conformance.otherActor()
    }

    @Test("SHD-6: a cancellation handler inside does not hear of the caller's cancellation")
    func handlers() async throws { try await Conformance.handlers() }

    @Test("SHD-7: the task's executor is kept, its children's too")
    func executor() async throws { try await Conformance.executor() }

    @Test("SHD-8: a result and an error come out as they are, with their type")
    func errors() async throws { try await Conformance.errors() }

    @Test("SHD-9: the priority is kept")
    func priority() async { await Conformance.priority() }

    @Test("SHD-10: what is cancelled inside is cancelled")
    func cancelsWithin() async throws { try await Conformance.cancelsWithin() }

    @Test("SHD-11: a shield in a shield")
    func nested() async throws { try await Conformance.nested() }

    @Test("SHD-12: a cancellation at any moment: the body runs to its end")
    func anyMoment() async throws { try await Conformance.anyMoment() }

    @Test("SHD-14: the body ends on another thread at any moment: its caller goes on after that")
    func endsElsewhere() async { await Conformance.endsElsewhere() }

    @Test("SHD-13: deadline and cause of the caller end at the shield")
    func forgets() async throws {
        try await simulate { _ in
            await withDeadline(.in(.zero)) {
                #expect(Cancellation.cause == .deadlineExpired)
                await shielded {
                    #expect(Deadline.current == nil)
                    #expect(Cancellation.cause == nil)
                    await withTaskGroup(of: Void.self) { group in
                        group.cancelAll()
                        group.addTask { #expect(Cancellation.cause == .requested) }
                    }
                }
                #expect(Cancellation.cause == .deadlineExpired)
            }
        }
    }
}
