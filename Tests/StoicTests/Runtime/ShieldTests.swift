import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite(.timeLimit(.minutes(20)))
struct ShieldTests {
    @Test("a cancelled caller does not cancel shielded work: it sleeps in full")
    func shieldedSleep() async throws {
        let slept = try await simulate { world in
            let slept = Mutex(Duration.zero)
            let started = Completion<Void>()
            let task = spawn {
                await shielded {
                    let begin = world.clock.now
                    started.fulfil(())
                    do { try await world.clock.sleep(for: .seconds(5)) } catch { return }
                    slept.withLock { $0 = begin.duration(to: world.clock.now) }
                }
            }
            _ = await started.wait()
            task.cancel()
            await task.value
            return slept.withLock { $0 }
        }
        #expect(slept == .seconds(5))
    }

    @Test("a completion wakes every waiter, and a bounded wait ends")
    func completion() async throws {
        try await simulate(order: .uniform) { world in
            let done = Completion<Int>()
            let late = await done.wait(until: .in(.seconds(3)))
            #expect(late == nil)
            #expect(world.clock.now.sinceOrigin == .seconds(3))
            let waiters = (0..<10).map { _ in spawn { await done.wait() } }
            done.fulfil(7)
            for waiter in waiters { #expect(await waiter.value == 7) }
            #expect(world.clock.sleeperCount == 0)
        }
    }

    @Test("a standstill is found")
    func deadlock() async throws {
        await #expect(throws: SimulatedDeadlock.self) {
            try await simulate { _ in
                let never = Parking<Void>()
                await never.value()
            }
        }
    }

    @MainActor @Test("the body stays on the caller's actor")
    func actor() async {
        var touched = 0
        await shielded {
            MainActor.assertIsolated()
            touched += 1
            await Task.yield()
            MainActor.assertIsolated()
        }
        #expect(touched == 1)
    }
}
