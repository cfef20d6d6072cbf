import Stoic
import Synchronization

/// One run of a simulation.
final class SimulatedRun: Sendable {
    /// What may still run, without time passing, once the body has ended.
    private static let mostStepsAfterwards = 10_000

    /// How many steps hold the thread at once.
    private static let stepsAtOnce = 1_000

    /// The simulation around the current task.
    @TaskLocal static var current: SimulatedRun?

    let seed: UInt64
    let order: SimulatedOrder
    /// Of steps and moved timers together.
    let mostSteps: Int
    let world: SimulatedWorld
    private let executor = SimulatedExecutor()
    private let recorded = Mutex(SimulatedTrace())

    init(seed: UInt64, order: SimulatedOrder, mostSteps: Int = 1_000_000) {
        self.seed = seed
        self.order = order
        self.mostSteps = mostSteps
        let clock = TestClock()
        clock.simulate()
        let live = LiveWork(
            runningTask: { [executor] in executor.running },
            taskBegan: { [executor] site in executor.noteSite(site) })
        world = SimulatedWorld(
            clock: clock, ambientClock: AnyClock(clock),
            awakeClock: AnyClock(AwakeTestClock(clock)),
            events: EventRecorder(), seed: seed, order: order, live: live)
    }

    /// What was picked at each step so far.
    var trace: SimulatedTrace { recorded.withLock { $0 } }

    /// What a task of this run is, in words.
    func name(of task: Int) -> String { executor.name(of: task) }

    /// Runs `body` to its end. Now and then the thread is given to others: tests in real time run
    /// beside this one.
    func run<R: Sendable>(
        _ body: @escaping @Sendable (SimulatedWorld) async throws -> R
    ) async -> Result<R, any Error> {
        let result = Mutex<Result<R, any Error>?>(nil)
        let task = Task(executorPreference: executor) { [self] in
            let outcome: Result<R, any Error>
            do {
                outcome = .success(try await inside { try await body(world) })
            } catch {
                outcome = .failure(error)
            }
            result.withLock { $0 = outcome }
        }
        var picker = SimulatedPicker(order, seed: seed)
        var steps = 0
        while result.withLock({ $0 == nil }) {
            steps += 1
            if steps.isMultiple(of: Self.stepsAtOnce) { await Task.yield() }
            guard steps <= mostSteps else {
                return .failure(giveUp(task, SimulatedLivelock(self, parked)))
            }
            if executor.readyCount > 0 {
                step(&picker)
            } else if !world.clock.goOn() {
                return .failure(giveUp(task, SimulatedDeadlock(self, parked)))
            }
        }
        finish()
        return result.withLock { $0 } ?? .failure(SimulatedDeadlock(self, parked))
    }

    private func inside<R>(_ body: () async throws -> R) async throws -> R {
        try await Self.$current.withValue(self) {
            try await world.live.watch {
                try await withAmbient {
                    $0.clock = world.ambientClock
                    $0.livenessClock = world.ambientClock
                    $0.random = .seeded(seed)
                    $0.budgets = RetryBudgets()
                    $0.instrumentation = world.events
                } operation: {
                    try await withOwnAbandonedWork { try await body() }
                }
            }
        }
    }

    /// Runs one job, or fires one timer early.
    private func step(_ picker: inout SimulatedPicker) {
        let ready = executor.readyTasks
        let step = recorded.withLock { trace in
            defer { trace.steps += 1 }
            return trace.steps
        }
        let pick = picker.pick(step: step, ready, timerWaits: world.clock.mayFireEarly)
        switch pick {
        case .timer:
            note(.init(pick: pick, task: 0, overtaken: ready[0]), at: step)
            _ = world.clock.wakeNext()
        case .ready(let place):
            if place > 0 {
                note(.init(pick: pick, task: ready[place], overtaken: ready[0]), at: step)
            }
            let (task, hasYielded) = executor.run(at: place)
            if hasYielded { picker.noteYield(of: task) }
        }
    }

    private func note(_ preemption: SimulatedTrace.Preemption, at step: Int) {
        recorded.withLock { $0.preemptions[step] = preemption }
    }

    /// Who waits where.
    private var parked: [String] {
        world.live.entries.filter { $0.kind == .wait }.map { entry in
            let label = entry.label.isEmpty ? "" : " \"\(entry.label)\""
            let path = entry.path.isEmpty ? "" : " in " + entry.path.joined(separator: "/")
            return "task \(entry.task) waits for \(entry.site)\(label)\(path)"
        } + (world.clock.isAwaited ? ["a test waits for sleepers that do not arrive"] : [])
    }

    /// Cancels what is left, so that it lets go of what it holds.
    private func giveUp<E: Error>(_ task: Task<Void, Never>, _ error: E) -> E {
        task.cancel()
        world.clock.giveUp()
        finish()
        return error
    }

    /// Lets run what still can without time passing: cancelled timers, and what unwinds.
    private func finish() {
        var steps = 0
        while executor.readyCount > 0, steps < Self.mostStepsAfterwards {
            steps += 1
            _ = executor.run(at: 0)
        }
    }
}
