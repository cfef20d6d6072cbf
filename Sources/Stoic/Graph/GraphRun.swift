import Synchronization

/// One run of a graph: the host that performs on closures what the lifecycle machine decides.
///
/// Events go into an inbox; whoever finds nobody at work on it works through it, so that the
/// machine sees one event at a time and its effects are performed in order. Nothing in here decides
/// when something starts or stops.
final class GraphRun: Sendable {
    /// What the run holds beside the machine.
    struct State {
        var inbox: [LifecycleEvent] = []
        var isDraining = false
        var lives: [Incarnation: GraphLife] = [:]
        /// Why everything ends; the first reason stays.
        var exit: Exit?
        var failures: [(slot: Int, error: any Error)] = []
        var stopped: [Int] = []
        /// What the work of a service threw.
        var workFailure: (any Error)?
    }

    let label: String
    let provides: [Provide]
    let control: GraphControl
    let context: Context
    /// The two times of the machine.
    let clocks: CallClocks
    let values = ServiceValues()
    /// The body of `run`: it may be cancelled before it begins.
    let body: OwnedBody
    let state = Mutex(State())
    /// Locked by whoever works through the inbox, apart from the rest: starts and stops that end
    /// meanwhile need not wait for its rules.
    let machine: Mutex<LifecycleMachine>
    /// Whether everything is up (`true`), or it ends before it was (`false`).
    private let up = Completion<Bool>()
    /// Nothing of the graph runs any more, except what was left behind.
    let ended = Completion<Void>()
    private let timers: Mutex<[ClockKind: GraphTimers]>
    private let origins: (awake: AnyClock.Instant, boot: AnyClock.Instant)

    init(
        _ graph: ServiceGraph, exitBudget: Duration, stopTimeout: Duration,
        clock: (any Clock<Duration>)?, control: GraphControl
    ) {
        label = graph.label
        provides = graph.provides
        self.control = control
        var context = Context.current
        context.path = ScopePath(graph.label, inside: context.path)
        context.abandoned = AbandonedWork(inside: context.abandoned)
        self.context = context
        body = OwnedBody(CauseBox(inside: context.cause))
        clocks = CallClocks(given: clock, in: context.ambient)
        origins = (clocks.liveness.now, clocks.clock.now)
        timers = Mutex([:])
        let specs = zip(graph.specs, graph.provides).map { spec, provide in
            var spec = spec
            spec.stopTimeout = provide.stopTimeout ?? stopTimeout
            return spec
        }
        let settings = LifecycleMachine.Settings(
            exitBudget: exitBudget, stopsInParallel: graph.stopOrder == .parallel,
            random: context.ambient.random.stream())
        do {
            machine = Mutex(try LifecycleMachine(specs, settings: settings))
        } catch {
            preconditionFailure("a graph that was checked is refused: \(error)")
        }
    }

    /// Starts everything, runs `work`, and stops everything.
    nonisolated(nonsending) func perform<R>(
        _ work: nonisolated(nonsending) (Services) async throws -> R
    ) async throws -> R {
        tell(.graphStarting, .info, [.init("services", provides.count)])
        if !provides.isEmpty {
            post(.command(Command(.up, by: label)))
            guard let isUp = await up.wait(for: Site("the start of a graph")) else {
                await stop(.cancelled(context.cause?.recorded ?? .requested))
                throw CancellationError()
            }
            guard isUp else {
                await shielded { _ = await ended.wait(for: Site("the end of a graph")) }
                throw state.withLock { $0.workFailure } ?? startError()
            }
        }
        tell(.graphStarted, .info)
        let result = await runBody(work)
        await stop(exit(after: result))
        if let failure = state.withLock({ $0.workFailure }) { throw failure }
        return try result.get()
    }

    /// Takes one event in. From any task, and from within the performance of an effect.
    func post(_ event: LifecycleEvent) {
        let mine = state.withLock { state in
            state.inbox.append(event)
            guard !state.isDraining else { return false }
            state.isDraining = true
            return true
        }
        guard mine else { return }
        while let output = nextOutput() { perform(output) }
    }

    private func nextOutput() -> LifecycleOutput? {
        let event: LifecycleEvent? = state.withLock { state in
            guard !state.inbox.isEmpty else {
                state.isDraining = false
                return nil
            }
            return state.inbox.removeFirst()
        }
        guard let event else { return nil }
        let now = now
        var output = LifecycleOutput()
        machine.withLock { $0.handle(event, at: now, into: &output) }
        return output
    }

    private var now: Instant {
        Instant(
            awake: origins.awake.duration(to: clocks.liveness.now),
            boot: origins.boot.duration(to: clocks.clock.now))
    }

    /// The timers that wait on this clock.
    func timers(on clock: ClockKind) -> GraphTimers {
        timers.withLock { all in
            if let timers = all[clock] { return timers }
            let own = clock == .awake ? clocks.liveness : clocks.clock
            let timers = GraphTimers(own) { [weak self] timer in self?.post(.timer(.fired(timer))) }
            all[clock] = timers
            return timers
        }
    }

    /// The project is up for the first time.
    func noteUp() { up.fulfil(true) }

    /// The project ends; if it was not up, the body never runs.
    func noteStopping() {
        up.fulfil(false)
        body.cancel(.siblingFailed)
    }

    /// Nothing runs any more.
    func noteEnded() {
        for timers in timers.withLock({ Array($0.values) }) { timers.close() }
        ended.fulfil(())
    }
}

// MARK: The body

extension GraphRun {
    private nonisolated(nonsending) func runBody<R>(
        _ work: nonisolated(nonsending) (Services) async throws -> R
    ) async -> Result<R, any Error> {
        var inside = Context.current
        inside.cause = body.cause
        let services = Services(values: values, reader: nil)
        do {
            return .success(
                try await withContext(inside) {
                    try await body.run { () async throws -> R in try await work(services) }
                })
        } catch {
            return .failure(error)
        }
    }

    private func exit<R>(after result: Result<R, any Error>) -> Exit {
        switch result {
        // A body that ends well because it was asked to end has not come to its end by itself.
        case .success where Task.isCancelled:
            return .cancelled(context.cause?.recorded ?? .requested)
        case .success: return .success
        case .failure(let error) where error is CancellationError:
            return .cancelled(context.cause?.recorded ?? .requested)
        case .failure(let error): return .failure(error)
        }
    }
}

// MARK: The end

extension GraphRun {
    /// Stops everything and waits for it, whatever happens to the caller.
    private nonisolated(nonsending) func stop(_ exit: Exit) async {
        guard !provides.isEmpty else {
            tell(.graphStopping, .info)
            return tell(.graphStopped, .info)
        }
        note(exit)
        post(.command(Command(.stopProject(.requested(exit.summary)), by: label)))
        await shielded { _ = await ended.wait(for: Site("the end of a graph")) }
    }

    /// Remembers why everything ends, unless that is known already.
    func note(_ exit: Exit) { state.withLock { $0.exit = $0.exit ?? exit } }

    /// The stop was asked for from outside.
    func requestStop(_ cause: CancellationCause) {
        note(.cancelled(cause))
        endBody(cause, because: cause.description)
    }

    /// Cancels the body. Nothing stops under a body that runs: its end stops everything; before
    /// that nothing else would.
    func endBody(_ cause: CancellationCause, because reason: String) {
        body.cancel(cause)
        guard up.value != true else { return }
        post(.command(Command(.stopProject(.requested(reason)), by: label)))
    }

    /// Nobody waits any longer: the machine skips to the end of every ladder.
    func force() {
        note(.cancelled(.requested))
        body.cancel(.requested)
        post(.command(Command(.force, by: label)))
    }

    /// One line for each service that is not at rest.
    var summary: [String] {
        machine.withLock { machine in
            machine.services.compactMap { id in
                let name = provides[id.slot].key.name
                switch machine.state(of: id) {
                case .waiting: return "\(name) waits for what it needs"
                case .starting: return "\(name) starts"
                case .up: return "\(name) is up"
                case .stopping: return "\(name) stops"
                case .abandoned: return "\(name) was left behind"
                case .backingOff, .ended: return nil
                }
            }
        }
    }

    /// Why the body never ran.
    private func startError() -> ServiceGraphError {
        let (failures, stopped, exit) = state.withLock { ($0.failures, $0.stopped, $0.exit) }
        guard let first = failures.first else {
            guard case .cancelled(let cause) = exit else { return .stoppedBeforeStart(.requested) }
            return .stoppedBeforeStart(cause)
        }
        return .startFailed(
            .init(
                key: provides[first.slot].key, underlying: first.error,
                alsoFailed: failures.dropFirst().map { (provides[$0.slot].key, $0.error) },
                stopped: stopped.map { provides[$0].key }))
    }
}
