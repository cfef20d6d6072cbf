public import Stoic
import Synchronization

/// In which order a simulation runs what could run.
public enum SimulatedOrder: Hashable, Sendable {
    /// The one that has waited longest.
    case firstComeFirstServed
    /// Any, each as likely.
    case uniform
}

/// A simulation that cannot go on: nothing can run, nobody sleeps, and the body has not ended.
public struct SimulatedDeadlock: Error, CustomStringConvertible {
    /// The seed that leads here.
    public let seed: UInt64
    public var description: String {
        "the simulation stands still: nothing can run and nobody sleeps (seed \(seed))"
    }
}

/// What a simulated body works with.
public struct SimulatedWorld: Sendable {
    /// The only time there is. It moves when nothing can run, to the next sleeper's moment.
    public let clock: TestClock
    /// The same clock as the ambient one.
    public let ambientClock: AnyClock
    /// Every event that was reported.
    public let events: EventRecorder
}

/// Runs `body` on one thread, in virtual time, with every choice from `seed`: thirty seconds of
/// backoff take microseconds, and a seed that fails once fails always.
///
/// The ambient clocks, randomness, budgets and instrumentation are the simulation's own. Work on
/// the main actor, on detached tasks and on threads is not part of it.
/// - Throws: What `body` throws; `SimulatedDeadlock` if nothing can go on.
public func simulate<R: Sendable>(
    seed: UInt64 = 1, order: SimulatedOrder = .firstComeFirstServed,
    _ body: @escaping @Sendable (SimulatedWorld) async throws -> R
) async throws -> R {
    let executor = SimulatedExecutor()
    let clock = TestClock()
    let erased = AnyClock(clock)
    let world = SimulatedWorld(clock: clock, ambientClock: erased, events: EventRecorder())
    let result = Mutex<Result<R, any Error>?>(nil)
    let task = Task(executorPreference: executor) {
        let outcome: Result<R, any Error>
        do {
            let value = try await withAmbient {
                $0.clock = erased
                $0.livenessClock = erased
                $0.random = .seeded(seed)
                $0.budgets = RetryBudgets()
                $0.instrumentation = world.events
            } operation: {
                try await withOwnAbandonedWork { try await body(world) }
            }
            outcome = .success(value)
        } catch {
            outcome = .failure(error)
        }
        result.withLock { $0 = outcome }
    }
    var random = RandomSource.seeded(seed)
    while result.withLock({ $0 == nil }) {
        let count = executor.readyCount
        if count > 0 {
            switch order {
            case .firstComeFirstServed: executor.run(at: 0)
            case .uniform: executor.run(at: Int.random(in: 0..<count, using: &random))
            }
        } else if !clock.wakeNext() {
            task.cancel()
            throw SimulatedDeadlock(seed: seed)
        }
    }
    guard let outcome = result.withLock({ $0 }) else { throw SimulatedDeadlock(seed: seed) }
    return try outcome.get()
}
