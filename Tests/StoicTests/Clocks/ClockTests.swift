import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("AnyClock", .timeLimit(.minutes(5)))
struct ClockTests {
    @Test(
        "CLK-1: a sleep of Int64.max seconds is no trap, and ends only by cancellation, silent",
        arguments: [AnyClock.continuous, .suspending, .liveness, AnyClock(TestClock())])
    func forEver(clock: AnyClock) async throws {
        let recorder = EventRecorder()
        await withAmbient {
            $0.instrumentation = recorder
        } operation: {
            for duration: Duration in [.seconds(Int64.max), .century] {
                let began = Completion<Void>()
                let sleeper = spawn {
                    began.fulfil(())
                    do { try await clock.sleep(for: duration) } catch {
                        return error is CancellationError
                    }
                    return false
                }
                _ = await began.wait()
                sleeper.cancel()
                #expect(await sleeper.value)
            }
        }
        // A machine that is busy enough does stop the process for a while.
        #expect(recorder.names.allSatisfy { $0 == "liveness.paused" })
    }

    @Test("CLK-1: virtual time does not jump to the end of a sleep without end")
    func standsStill() async throws {
        await #expect(throws: SimulatedDeadlock.self) {
            try await simulate { world in try await world.ambientClock.sleep(for: .century) }
        }
    }

    @Test("CLK-2: a deadline of now and something huge is a century, silent")
    func saturates() async throws {
        try await simulate { world in
            let deadline = Deadline.in(.seconds(Int64.max))
            #expect(deadline.remaining == .century)
            #expect(deadline.instant.advanced(by: .seconds(Int64.max)) == deadline.instant)
            try await world.clock.advance(by: .seconds(10))
            #expect(deadline.remaining == .century - .seconds(10))
            let past = Deadline.in(.seconds(Int64.min))
            #expect(past.hasPassed && past.remaining >= .zero - .century - .seconds(10))
            #expect(world.events.names == [])
        }
    }

    @Test("CLK-4: advanced past several sleepers: by deadline, ties as they came, silent")
    func order() async throws {
        try await simulate { world in
            let woken = Mutex<[Int]>([])
            let sleepers = [30, 10, 20, 10, 30].enumerated().map { place, seconds in
                spawn {
                    _ = await Deadline.in(.seconds(seconds)).sleep()
                    woken.withLock { $0.append(place) }
                }
            }
            await Task.yield()
            try await world.clock.advance(by: .seconds(25))
            #expect(woken.withLock { $0 } == [1, 3, 2])
            try await world.clock.advance(by: .seconds(25))
            #expect(woken.withLock { $0 } == [1, 3, 2, 0, 4])
            for sleeper in sleepers { await sleeper.value }
            #expect(world.events.names == [])
        }
    }

    @Test(
        "CLK-5: a sleep that is over, or cancelled before it begins, never suspends, silent",
        arguments: [AnyClock.continuous, .suspending, .liveness])
    func neverSuspends(clock: AnyClock) async throws {
        let recorder = EventRecorder()
        try await withAmbient {
            $0.instrumentation = recorder
        } operation: {
            for wait: Duration in [.zero, .seconds(-5), .seconds(Int64.min)] {
                try await runChild(
                    { try await clock.sleep(for: wait) },
                    cancellation: CallerCancellation(alreadyCancelled: false) { _ in },
                    suspended: { _ in Issue.record("it suspended") })
            }
            let cancelled = CallerCancellation(alreadyCancelled: true) { _ in }
            for wait: Duration in [.zero, .seconds(5), .century] {
                await #expect(throws: CancellationError.self) {
                    try await runChild(
                        { try await clock.sleep(for: wait) }, cancellation: cancelled,
                        suspended: { _ in Issue.record("it suspended") })
                }
            }
        }
        #expect(recorder.names == [])
    }
}
