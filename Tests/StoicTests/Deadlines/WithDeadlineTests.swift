import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("withDeadline", .timeLimit(.minutes(5)))
struct WithDeadlineTests {
    @Test("DL-1: the operation ends first: its value, no timer left, silent as nothing is decided")
    func endsFirst() async throws {
        try await simulate { world in
            let value = try await withDeadline(.in(.seconds(5))) {
                try await world.clock.sleep(for: .seconds(1))
                return 7
            }
            #expect(value == 7)
            #expect(world.clock.sleeperCount == 0)
            #expect(world.events.names == [])
        }
    }

    @Test("DL-1: an operation that never suspends starts no timer")
    func neverSuspends() async throws {
        try await simulate { world in
            let sleepers = await withDeadline(.in(.seconds(5))) { world.clock.sleeperCount }
            #expect(sleepers == 0)
            #expect(world.clock.sleeperCount == 0)
        }
    }

    @Test("DL-2: a typed error comes out as it is, silent as it is the caller's own")
    func typedError() async throws {
        try await simulate { world in
            do throws(OwnError) {
                try await withDeadline(.in(.seconds(5))) { () async throws(OwnError) in
                    throw OwnError(number: 3)
                }
                Issue.record("nothing was thrown")
            } catch {
                #expect(error.number == 3)
            }
            #expect(world.events.names == [])
        }
    }

    @Test("DL-3: honours its cancellation: its own error, and the cause is the deadline")
    func honours() async throws {
        try await simulate { world in
            let cause = Mutex<CancellationCause?>(nil)
            await #expect(throws: OwnError.self) {
                try await withDeadline(.in(.seconds(5))) {
                    do { try await world.clock.sleep(for: .seconds(60)) } catch {
                        cause.withLock { $0 = Cancellation.cause }
                        throw OwnError()
                    }
                }
            }
            #expect(cause.withLock { $0 } == .deadlineExpired)
            #expect(world.clock.now.sinceOrigin == .seconds(5))
            #expect(world.clock.sleeperCount == 0)
            #expect(world.events.names == ["deadline.expired"])
            #expect(world.events.events.first?.fields == [.init("limit", .seconds(5))])
        }
    }

    @Test("DL-4: ignores its cancellation: returns when it does, with its value, and says so")
    func ignores() async throws {
        try await simulate { world in
            let value = await withDeadline(.in(.seconds(5))) {
                await workStubbornly(.seconds(8))
                return 7
            }
            #expect(value == 7)
            #expect(world.clock.now.sinceOrigin == .seconds(8))
            #expect(
                world.events.names == ["deadline.expired", "deadline.overrun", "deadline.metLate"])
            #expect(world.events.events[1].fields.first == .init("by", .seconds(3)))
        }
    }
}
