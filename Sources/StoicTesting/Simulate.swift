public import Stoic
import Synchronization

/// What a simulated body works with.
public struct SimulatedWorld: Sendable {
    /// The only time there is. It moves when nothing can run, to the next sleeper's moment.
    public let clock: TestClock
    /// The same clock as the ambient one.
    public let ambientClock: AnyClock
    /// The time in which the machine was awake: `clock` without the sleeps of `sleepMachine`. The
    /// ambient liveness clock is not this one, but `ambientClock`, unless a test sets it.
    public let awakeClock: AnyClock
    /// Every event that was reported.
    public let events: EventRecorder
    /// What every choice in this run comes from; a body takes its own random numbers from it too.
    public let seed: UInt64
    /// How what runs next is chosen.
    public let order: SimulatedOrder
    let live: LiveWork

    /// Returns when everything else that can run has parked or ended, without time passing.
    public func settle() async { await clock.settle() }

    /// The machine sleeps for `duration`: deadlines pass, and nothing ran meanwhile.
    public func sleepMachine(for duration: Duration) { clock.sleepMachine(for: duration) }
}

/// Runs `body`, one job at a time, in virtual time, with every choice from `seed`: thirty seconds
/// of backoff take microseconds, and a seed that fails once fails always.
///
/// The ambient clocks, randomness, budgets and instrumentation are the simulation's own. Work on
/// the main actor, on detached tasks and on threads is not part of it.
///
/// ```swift
/// try await simulate { world in
///     let page = try await retry(attempts: 3) { _ in try await client.fetch() }
///     show(page)
///     #expect(world.clock.now.sinceOrigin < .seconds(10))
/// }
/// ```
/// - Parameters:
///   - seed: Where every choice comes from.
///   - order: How what can run next is chosen.
///   - mostSteps: After how many steps, of jobs run and timers fired, it goes round in circles.
/// - Throws: What `body` throws; `SimulatedDeadlock` if nothing can go on, `SimulatedLivelock` if
///   it goes on for ever.
public func simulate<R: Sendable>(
    seed: UInt64 = 1, order: SimulatedOrder = .firstComeFirstServed, mostSteps: Int = 1_000_000,
    _ body: @escaping @Sendable (SimulatedWorld) async throws -> R
) async throws -> R {
    let simulation = SimulatedRun(seed: seed, order: order, mostSteps: mostSteps)
    return try await simulation.run(body).get()
}
