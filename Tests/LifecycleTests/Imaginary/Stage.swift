@testable import Stoic

/// An imaginary host under a clock of its own: services behave as told, timers fire when they are
/// due, and every decision is written down with its moment.
struct Stage {
    var host: ImaginaryHost
    /// One line for each decision worth one: milliseconds since the begin, service, what.
    private(set) var log: [String] = []
    /// Everything that was decided.
    private(set) var decisions: [LifecycleDecision] = []
    /// Everything that was asked for.
    private(set) var effects: [LifecycleEffect.Action] = []
    private(set) var now = Instant(awake: .seconds(100), boot: .seconds(200))
    private(set) var outcome: ProjectOutcome?
    private var behaviours: [ServiceName: Behaviour] = [:]
    private var launches: [ServiceName: Int] = [:]
    private var alarms: [TimerID: Alarm] = [:]
    private var script: [Line] = []
    private var order = 0

    private struct Alarm {
        var due: Duration
        let clock: ClockKind
        let order: Int
    }

    private struct Line {
        let due: Duration
        let order: Int
        let event: LifecycleEvent
    }

    /// A project of `specs` on an empty stage.
    init(
        _ specs: [ServiceSpec], exitBudget: Duration = .seconds(30), parallel: Bool = false,
        behaviours: [ServiceName: Behaviour] = [:]
    ) {
        let settings = LifecycleMachine.Settings(
            exitBudget: exitBudget, stopsInParallel: parallel, random: .seeded(7))
        do {
            host = ImaginaryHost(try LifecycleMachine(specs, settings: settings))
        } catch {
            preconditionFailure("\(error)")
        }
        self.behaviours = behaviours
    }

    var machine: LifecycleMachine { host.machine }
    var elapsed: Duration { now.awake - .seconds(100) }

    func id(_ name: ServiceName) -> ServiceID {
        guard let id = machine.service(named: name) else { preconditionFailure("no \(name)") }
        return id
    }

    func state(_ name: ServiceName) -> ServiceState { machine.state(of: id(name)) }
    func life(_ name: ServiceName) -> Incarnation? { state(name).incarnation }

    mutating func behave(_ name: ServiceName, _ behaviour: Behaviour) {
        behaviours[name] = behaviour
    }

    // MARK: What happens

    mutating func command(_ verb: Command.Verb, by requester: String = "test") {
        send(.command(Command(verb, by: requester)))
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
        send(.message(life, fact))
    }

    mutating func exit(_ name: ServiceName, _ status: ExitStatus) {
        guard let life = life(name) else { preconditionFailure("\(name) does not run") }
        exit(life, status)
    }

    /// Everything that is due within `duration`, in order.
    mutating func run(for duration: Duration) {
        let end = now.awake + duration
        while let (due, event) = next(), due <= end {
            pass(until: due)
            take(event)
        }
        pass(until: end)
    }

    /// Everything that is due, until the project has ended or nothing is left to happen.
    mutating func runOut() {
        for _ in 0..<100_000 {
            guard !host.isOver, let (due, event) = next() else { return }
            pass(until: due)
            take(event)
        }
        preconditionFailure("it goes on for ever: \(log.suffix(20))")
    }

    /// The machine sleeps: only the boot clock goes on.
    mutating func passAsleep(for duration: Duration) {
        now.boot = now.boot.saturatingSum(duration)
        run(for: .zero)
    }

    /// We ourselves stand still: both clocks go on, nothing happens, and then we are told.
    mutating func freeze(for duration: Duration) {
        now = now.advanced(by: duration)
        send(.timer(.paused(duration)))
    }

    private mutating func pass(until awake: Duration) {
        if awake > now.awake { now = now.advanced(by: awake - now.awake) }
    }

    private mutating func take(_ event: LifecycleEvent) {
        if case .timer(.fired(let timer)) = event {
            alarms[timer] = nil
        } else {
            script.removeAll { $0.event == event }
        }
        if case .process(let life, .mainExited(let status)) = event {
            exit(life, status)
        } else {
            send(event)
        }
    }

    private func next() -> (Duration, LifecycleEvent)? {
        var best: (due: Duration, order: Int, event: LifecycleEvent)?
        func offer(_ due: Duration, _ order: Int, _ event: LifecycleEvent) {
            if best.map({ (due, order) < ($0.due, $0.order) }) ?? true {
                best = (due, order, event)
            }
        }
        for (timer, alarm) in alarms {
            let left = max(alarm.due - now.reading(of: alarm.clock), .zero)
            offer(now.awake + left, alarm.order, .timer(.fired(timer)))
        }
        for line in script { offer(line.due, line.order, line.event) }
        return best.map { ($0.due, $0.event) }
    }

    // MARK: What follows

    private mutating func send(_ event: LifecycleEvent) {
        host.send(event, at: now)
        for decision in host.output.decisions { note(decision) }
        decisions += host.output.decisions
        for effect in host.output.effects { perform(effect.action) }
        if case .process(let life, .launched) = event { play(life) }
    }

    private mutating func note(_ decision: LifecycleDecision) {
        guard let words = decision.what.inShort else { return }
        let name = decision.service.map { machine.spec(of: $0).name.text } ?? "project"
        log.append("\(elapsed.milliseconds) \(name) \(words)")
    }

    private mutating func perform(_ action: LifecycleEffect.Action) {
        effects.append(action)
        switch action {
        case .launch(let id, let life): launch(machine.spec(of: id).name, life)
        case .arm(let timer, let after, let clock):
            order += 1
            alarms[timer] = Alarm(
                due: now.reading(of: clock).saturatingSum(after), clock: clock, order: order)
        case .disarm(let timer): alarms[timer] = nil
        case .postpone(let timer, let by): alarms[timer]?.due += by
        case .signal(let life, _, _), .signalRest(let life, _): told(life) { $0.term }
        case .sendStop(let life, _, _):
            guard let name = name(life) else { return }
            switch behaviours[name, default: .good].answer {
            case .none: break
            case .only: after(.zero, .message(life, .stopping))
            case .exits(let wait):
                after(.zero, .message(life, .stopping))
                told(life) { _ in wait }
            }
        case .kill(let life):
            guard let name = name(life), !behaviours[name, default: .good].survivesKill else {
                return
            }
            script.removeAll { $0.event.life == life }
            guard let seat = host.seats.first(where: { $0.life == life }) else { return }
            let fact: ProcessFact =
                switch seat.main {
                case .exited: .treeEmpty
                case .pending: .launchFailed(ImaginaryHost.noFile)
                case .running, .absent: .mainExited(.killed)
                }
            after(.zero, .process(life, fact))
        case .endProject(let how): outcome = how
        case .watchReadiness, .endReadiness, .runStopCommand, .sendReload, .release, .forget: break
        }
    }

    private func name(_ life: Incarnation) -> ServiceName? {
        machine.service(of: life).map { machine.spec(of: $0).name }
    }

    private mutating func launch(_ name: ServiceName, _ life: Incarnation) {
        let behaviour = behaviours[name, default: .good]
        launches[name, default: 0] += 1
        guard let wait = behaviour.launch else { return }
        let fails = launches[name, default: 0] <= behaviour.failedLaunches
        after(wait, .process(life, fails ? .launchFailed(ImaginaryHost.noFile) : .launched))
    }

    /// What a service does once it is launched.
    private mutating func play(_ life: Incarnation) {
        guard let name = name(life) else { return }
        let behaviour = behaviours[name, default: .good]
        if behaviour.hasChannel { after(.zero, .message(life, .channelOpened)) }
        let spec = machine.spec(of: id(name))
        if spec.readiness == .reported, let wait = behaviour.ready {
            after(wait, .message(life, .ready))
        }
        let number = launches[name, default: 1] - 1
        if let exit = behaviour.exits[min(number, behaviour.exits.count - 1)] {
            after(exit.after, .process(life, .mainExited(exit.status)))
        }
    }

    private mutating func told(_ life: Incarnation, _ wait: (Behaviour) -> Duration?) {
        guard let name = name(life), let wait = wait(behaviours[name, default: .good]),
            host.seats.contains(where: { $0.life == life && $0.main == .running })
        else { return }
        after(wait, .process(life, .mainExited(.code(0))))
    }

    private mutating func exit(_ life: Incarnation, _ status: ExitStatus) {
        let behaviour = name(life).map { behaviours[$0, default: .good] } ?? .good
        script.removeAll { $0.event.life == life }
        let isKilled = host.seats.contains { $0.life == life && $0.facts.contains(.killed) }
        if let wait = isKilled ? .zero : behaviour.tree { after(wait, .process(life, .treeEmpty)) }
        send(.process(life, .mainExited(status)))
    }

    private mutating func after(_ wait: Duration, _ event: LifecycleEvent) {
        order += 1
        script.append(Line(due: now.awake + wait, order: order, event: event))
    }
}

extension ExitStatus {
    static let killed = ExitStatus.signal(9, coreDumped: false)
}

extension LifecycleEvent {
    fileprivate var life: Incarnation? {
        switch self {
        case .process(let life, _), .message(let life, _): life
        case .command, .timer: nil
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
        case .unsuccessful: "unsuccessful"
        }
    }
}
