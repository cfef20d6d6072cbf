import Simulation

@testable import Stoic

/// A simulated host for the scenarios of the brain: by name, and with a log of one line for each
/// decision worth one.
struct Stage {
    /// The host itself.
    var host: SimulatedHost

    /// A project of `specs` on an empty stage.
    init(
        _ specs: [ServiceSpec], exitBudget: Duration = .seconds(30), parallel: Bool = false,
        behaviours: [ServiceName: Behaviour] = [:]
    ) {
        let settings = LifecycleMachine.Settings(
            exitBudget: exitBudget, stopsInParallel: parallel, random: .seeded(7))
        do {
            host = SimulatedHost(
                try LifecycleMachine(specs, settings: settings), keepsEffects: true)
        } catch {
            preconditionFailure("\(error)")
        }
        host.behaviours = behaviours
    }

    var machine: LifecycleMachine { host.machine }
    var elapsed: Duration { host.elapsed }
    var now: Instant { host.now }
    var outcome: ProjectOutcome? { host.outcome }
    /// Everything that was decided.
    var decisions: [LifecycleDecision] { host.journal.map(\.decision) }
    /// Everything that was asked for.
    var effects: [LifecycleEffect.Action] { host.effects }

    /// One line for each decision worth one: milliseconds since the begin, service, what.
    var log: [String] {
        host.journal.compactMap { entry in
            entry.decision.what.inShort.map { words in
                let at = (entry.at.awake - SimulatedHost.begin.awake).milliseconds
                return "\(at) \(entry.service?.text ?? "project") \(words)"
            }
        }
    }

    func id(_ name: ServiceName) -> ServiceID {
        guard let id = machine.service(named: name) else { preconditionFailure("no \(name)") }
        return id
    }

    func state(_ name: ServiceName) -> ServiceState { machine.state(of: id(name)) }
    func life(_ name: ServiceName) -> Incarnation? { state(name).incarnation }

    mutating func behave(_ name: ServiceName, _ behaviour: Behaviour) {
        host.behaviours[name] = behaviour
    }

    // MARK: What happens

    mutating func command(_ verb: Command.Verb, by requester: String = "test") {
        host.command(verb, by: requester)
    }
    mutating func up() { command(.up) }
    mutating func start(_ names: ServiceName...) { command(.start(names.map(id))) }
    mutating func stop(_ names: ServiceName...) { command(.stop(names.map(id))) }
    mutating func down(_ names: ServiceName...) { command(.down(names.map(id))) }
    mutating func restart(_ names: ServiceName...) { command(.restart(names.map(id))) }
    mutating func stopProject() { command(.stopProject(.requested("test"))) }
    mutating func interrupt() { command(.stopProject(.signal(2)), by: "SIGINT") }

    /// A plan of `specs`, checked like any other.
    mutating func plan(_ specs: [ServiceSpec], rollsBack: Bool = false) {
        do { command(.plan(try Plan(specs, rollsBack: rollsBack))) } catch {
            preconditionFailure("\(error)")
        }
    }

    mutating func say(_ name: ServiceName, _ fact: MessageFact) {
        guard let life = life(name) else { preconditionFailure("\(name) does not run") }
        host.send(.message(life, fact))
    }

    mutating func exit(_ name: ServiceName, _ status: ExitStatus) {
        guard state(name).incarnation != nil else { preconditionFailure("\(name) does not run") }
        host.exit(name, status)
    }

    mutating func run(for duration: Duration) { host.run(for: duration) }

    /// Everything that is due, until the project has ended or nothing is left to happen.
    mutating func runOut() {
        host.runOut()
        if host.isCutOff { preconditionFailure("it goes on for ever: \(log.suffix(20))") }
    }

    mutating func passAsleep(for duration: Duration) { host.passAsleep(for: duration) }
    mutating func freeze(for duration: Duration) { host.freeze(for: duration) }
}

extension ExitStatus {
    static let killed = ExitStatus.signal(9, coreDumped: false)
}

/// How a service of a scenario behaves.
extension Behaviour {
    /// Ready at once, and gone at SIGTERM, but for what `change` says.
    init(_ change: (inout Behaviour) -> Void) {
        self = .good
        change(&self)
    }

    /// Ready at once, and deaf to SIGTERM.
    static let stubborn = Behaviour { $0.term = nil }
    /// Ready at once, and not even SIGKILL ends it.
    static let immortal = Behaviour {
        $0.term = nil
        $0.survivesKill = true
    }

    /// Exits by itself at each launch, so long after the exec.
    static func exits(after: Duration, _ status: ExitStatus, ready: Duration? = .zero) -> Behaviour
    {
        Behaviour {
            $0.ready = ready
            $0.exits = [Exit(after: after, status: status)]
        }
    }
}

extension Duration {
    var milliseconds: Int { Int(self / .milliseconds(1)) }
}

extension Verdict {
    /// A few words; `nil` for what a reader of a log does not miss.
    var inShort: String? {
        switch self {
        case .projectUp: "up"
        case .projectStopping: "stopping"
        case .forced: "forced"
        case .projectEnded: "ended"
        case .budgetExceeded: "budget exceeded"
        case .planStarted(let added, let changed, let removed):
            "plan +\(added) ~\(changed) -\(removed)"
        case .planSettled: "plan settled"
        case .planRolledBack: "plan rolled back"
        case .refused(let verb, _, let why): "refused \(verb): \(why)"
        case .launching: "launch"
        case .ready: "ready"
        case .notReady: "not ready"
        case .completed: "completed"
        case .failed(let failure): "failed: \(failure.inShort)"
        case .exited: "exited"
        case .restartScheduled(let after, _): "again in \(after.milliseconds)"
        case .gaveUp(let restarts, _): "gave up after \(restarts)"
        case .needLost(_, let rule): "need lost: \(rule)"
        case .stopping: "stop"
        case .stopMessageSent: "message"
        case .stopAnswered: "answered"
        case .signalled(let number, let target): "signal \(number) \(target)"
        case .stopCommandRun(let index): "command \(index)"
        case .killed: "killed"
        case .stopped: "stopped"
        case .abandoned: "abandoned"
        case .abandonedTreeEmpty: "gone at last"
        case .forgotten: "forgotten"
        case .timeoutExtended(let by): "extended by \(by.milliseconds)"
        case .extensionRefused: "not extended"
        case .healthy: "healthy"
        case .probeFailed(_, let count, let most): "probe failed \(count) of \(most)"
        case .probePassed: "probe passed"
        case .defect(let words): "DEFECT \(words)"
        case .accepted, .paused, .waiting, .launched, .channelOpened, .watchdogSet,
            .stopRequested, .mainExited, .reloadSent, .stale, .noted:
            nil
        }
    }
}

extension ServiceFailure {
    var inShort: String {
        switch self {
        case .cannotLaunch: "cannot launch"
        case .endedEarly: "ended early"
        case .notReadyInTime: "not ready in time"
        case .crashed: "crashed"
        case .watchdogMissed: "watchdog"
        case .probesFailed: "probes"
        case .unsuccessful: "unsuccessful"
        }
    }
}
