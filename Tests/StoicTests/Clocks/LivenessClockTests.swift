import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("LivenessClock", .timeLimit(.minutes(20)))
struct LivenessClockTests {
    @Test(
        "CLK-3: the process is stopped for ten watchdog periods: nothing is called hung",
        arguments: [100, 250, 600, 1_000, 5_000])
    func stopped(milliseconds: Int) async throws {
        let period = Duration.milliseconds(milliseconds)
        try await simulate { world in
            let base = JumpingClock(world.clock)
            let liveness = AnyClock(source: LivenessClock(AnyClock(base)))
            let gap = max(period * 10, .seconds(5))
            let stop = spawn {
                await workStubbornly(period / 2)
                base.jump(by: gap)
            }
            let began = liveness.now
            try await liveness.sleep(for: period)
            await stop.value
            // On its own time the watchdog got all of its period, and hardly more.
            let passed = began.duration(to: liveness.now)
            #expect(passed >= period && passed <= period + .milliseconds(500))
            // What it got it got while the process ran, but for less than a look.
            #expect(world.clock.now.sinceOrigin >= min(period, .milliseconds(100)))
            #expect(world.clock.now.sinceOrigin <= period + .milliseconds(500))
            #expect(world.events.names == ["liveness.paused"])
            guard case .duration(let left) = world.events.events[0].fields[0].value else {
                Issue.record("no duration")
                return
            }
            #expect(left <= gap && left >= gap - .milliseconds(250))
        }
    }

    @Test("CLK-3: hardly late is not stolen, silent as the time counts")
    func hardlyLate() async throws {
        try await simulate { world in
            let base = JumpingClock(world.clock)
            let liveness = AnyClock(source: LivenessClock(AnyClock(base)))
            let began = liveness.now
            let jump = spawn {
                await workStubbornly(.seconds(1))
                base.jump(by: .milliseconds(200))
            }
            try await liveness.sleep(for: .seconds(3))
            await jump.value
            let passed = began.duration(to: liveness.now)
            #expect(passed >= .seconds(3) && passed <= .milliseconds(3_250))
            #expect(world.clock.now.sinceOrigin < .seconds(3))
            #expect(world.events.names == [])
        }
    }

    @Test("CLK-3: many sleepers see one gap once")
    func shared() async throws {
        try await explore(seeds: 17, under: SimulatedOrder.punctual) { world in
            let seed = world.seed
            let base = JumpingClock(world.clock)
            let liveness = AnyClock(source: LivenessClock(AnyClock(base)))
            let sleepers = (1...5).map { count in
                spawn {
                    let began = liveness.now
                    do { try await liveness.sleep(for: .seconds(count)) } catch {
                        return Duration.zero
                    }
                    return began.duration(to: liveness.now)
                }
            }
            try await world.clock.advance(by: .milliseconds(700))
            base.jump(by: .seconds(60))
            for (place, sleeper) in sleepers.enumerated() {
                let passed = await sleeper.value
                let wanted = Duration.seconds(place + 1)
                #expect(passed >= wanted && passed <= wanted + .milliseconds(500))
            }
            #expect(world.events.names == ["liveness.paused"], "seed \(seed)")
        }
    }

    @Test("nobody sleeps: no look is due, and time passes as it does on the clock below")
    func nobodySleeps() async throws {
        try await simulate { world in
            let base = JumpingClock(world.clock)
            let liveness = AnyClock(source: LivenessClock(AnyClock(base)))
            base.jump(by: .seconds(60))
            #expect(liveness.now.sinceOrigin == .seconds(60))
            #expect(world.events.names == [])
        }
    }
}
