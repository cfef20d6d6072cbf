import StoicTesting
import Testing

@testable import Stoic

@Suite("withAbandoningDeadline", .timeLimit(.minutes(1)))
struct AbandoningDeadlineTests {
    @Test("DL-10: work that was left behind returns later, or throws later")
    func returnsLater() async throws {
        for fails in [false, true] {
            try await simulate { world in
                let owner = AbandonedWork(inside: nil)
                var context = Context.current
                context.abandoned = owner
                try await withContext(context) {
                    await #expect(throws: PolicyError<any Error>.self) {
                        try await withAbandoningDeadline(.in(.seconds(5)), label: "mount") {
                            await workStubbornly(.seconds(20))
                            if fails { throw OwnError() }
                        }
                    }
                    #expect(world.clock.now.sinceOrigin == .seconds(6))
                    #expect(owner.count == 1)
                    #expect(world.events.names == ["deadline.expired", "deadline.abandoned"])
                    try await world.clock.advance(by: .seconds(15))
                    #expect(owner.count == 0)
                }
                #expect(world.events.names.dropFirst(2) == ["deadline.abandonedReturned"])
                let fields = world.events.events[2].fields
                #expect(fields.map(\.key) == ["label", "after"] + (fails ? ["error"] : []))
            }
        }
    }

    @Test("DL-11: with 64 left behind the next call waits, and says so")
    func saturated() async throws {
        try await simulate { world in
            try await withOwnAbandonedWork {
                for _ in 0..<AbandonedWork.cap {
                    #expect(AbandonedWork.begin(for: Context.current.abandoned))
                }
                let value = try await withAbandoningDeadline(.in(.seconds(5)), label: "mount") {
                    await workStubbornly(.seconds(20))
                    return 7
                }
                #expect(value == 7)
                #expect(AbandonedWork.inProcess == AbandonedWork.cap)
            }
            #expect(world.clock.now.sinceOrigin == .seconds(20))
            #expect(
                world.events.names == [
                    "deadline.expired", "deadline.abandonmentSaturated", "deadline.overrun",
                    "deadline.metLate",
                ])
        }
    }
}
