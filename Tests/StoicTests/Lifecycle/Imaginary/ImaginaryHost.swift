@testable import Stoic

/// Imaginary processes under a real brain: carries out effects on a table of facts of its own, offers
/// every event that could come next, and checks each effect against the invariants with that table,
/// never with the brain's.
struct ImaginaryHost: Sendable {
    var machine: LifecycleMachine
    var processes: [Incarnation: Process] = [:]
    var timers: Set<TimerID> = []
    var isOver = false
    var wasForced = false
    /// What was found wrong, in words.
    var violations: [String] = []
    var decisions: [LifecycleDecision] = []

    struct Process: Hashable, Sendable {
        var service: ServiceID
        var main = Main.pending
        var isReady = false
        var hasChannel = false
        var wasKilled = false
        var wasTold = false

        enum Main: Hashable, Sendable {
            case pending
            case running
            case exited
        }
    }

    /// Steps of a service, in the order they were seen: for tests that look at an order.
    var log: [String] = []

    init(_ machine: LifecycleMachine) { self.machine = machine }

    /// The moment at which everything happens, unless a test says otherwise: time passes only by timers.
    static let moment = Instant(awake: .seconds(1_000), boot: .seconds(1_000))

    mutating func send(_ event: LifecycleEvent, at now: Instant = moment) {
        apply(event)
        var output = LifecycleOutput()
        machine.handle(event, at: now, into: &output)
        if output.decisions.isEmpty { violations.append("\(event) led to no decision") }
        decisions += output.decisions
        for decision in output.decisions {
            if case .defect(let words) = decision.what { violations.append("defect: \(words)") }
        }
        let known = Set(decisions.map(\.id))
        for effect in output.effects {
            if !known.contains(effect.decision) {
                violations.append("an effect without a decision")
            }
            perform(effect.action)
        }
        checkState()
    }

    mutating func command(_ verb: Command.Verb) { send(.command(Command(verb, by: "test"))) }

    /// The event as it changes the imaginary world.
    private mutating func apply(_ event: LifecycleEvent) {
        switch event {
        case .process(let life, .launched): processes[life]?.main = .running
        case .process(let life, .launchFailed): processes[life] = nil
        case .process(let life, .mainExited):
            processes[life]?.main = .exited
            processes[life]?.isReady = false
        case .process(let life, .treeEmpty): processes[life] = nil
        case .message(let life, .ready): processes[life]?.isReady = true
        case .message(let life, .channelOpened): processes[life]?.hasChannel = true
        case .timer(.fired(let timer)): timers.remove(timer)
        case .command, .message, .timer: break
        }
    }

    // MARK: Effects

    private mutating func perform(_ action: LifecycleEffect.Action) {
        switch action {
        case .launch(let service, let life): launch(service, life)
        case .arm(let timer, _, _): timers.insert(timer)
        case .disarm(let timer): timers.remove(timer)
        case .postpone: break
        case .kill(let life):
            checkSignal(life)
            checkStopOrder(life)
            processes[life]?.wasKilled = true
        case .signal(let life, let number, _):
            guard processes[life] != nil else { return }
            checkSignal(life)
            if number == 15, processes[life]?.main == .running { checkStopOrder(life) }
            log.append("\(name(life)) \(number)")
        case .sendStop(let life, _, _):
            if processes[life]?.hasChannel != true {
                violations.append("a message without channel")
            }
            checkStopOrder(life)
            log.append("\(name(life)) message")
        case .runStopCommand(let life, _, _, _): checkStopOrder(life)
        case .sendReload(let life):
            if processes[life]?.hasChannel != true { violations.append("a reload without channel") }
        case .watchReadiness, .endReadiness, .release, .forget: break
        case .endProject(let outcome):
            isOver = true
            for (life, process) in processes {
                if !outcome.abandoned.contains(process.service) {
                    violations.append("the project ended while \(life) lives")
                }
            }
        }
    }

    private mutating func launch(_ service: ServiceID, _ life: Incarnation) {
        if processes.values.contains(where: { $0.service == service }) {
            violations.append("two incarnations of \(service) live at once")
        }
        if machine.isEnding {
            violations.append("\(service) was launched after the project's stop")
        }
        for need in machine.spec(of: service).needs where need.isRequired {
            guard let target = machine.service(named: need.service) else { continue }
            let isThere = processes.values.contains { $0.service == target && $0.isReady }
            let isLaunched = processes.values.contains {
                $0.service == target && $0.main == .running
            }
            let isCompleted = machine.state(of: target) == .ended(.completed)
            let isMet =
                switch need.condition {
                case .ready: isThere || isCompleted
                case .started: isLaunched || isCompleted
                case .completed:
                    isCompleted || machine.state(of: target).offers.contains(.completed)
                }
            if !isMet {
                violations.append("\(service) was launched before \(need.service) was met")
            }
        }
        processes[life] = Process(service: service)
        log.append("\(machine.spec(of: service).name) launch")
    }

    private mutating func checkSignal(_ life: Incarnation) {
        if processes[life] == nil { violations.append("a signal to \(life), which does not live") }
    }

    /// No rung of a stop that leaves a service down is sent before every dependent is gone.
    private mutating func checkStopOrder(_ life: Incarnation) {
        guard let process = processes[life], !process.wasTold else { return }
        processes[life]?.wasTold = true
        guard !machine.wasForced, timers.contains(.exitBudget) || !machine.isEnding,
            let service = machine.service(of: life)
        else { return }
        guard case .stopping(_, let stop) = machine.state(of: service), case .end = stop.then,
            stop.main == .running, stop.cause.isAskedFor
        else { return }
        let name = machine.spec(of: service).name
        for (other, process) in processes where other != life {
            let needs = machine.spec(of: process.service).needs
            guard needs.contains(where: { $0.service == name && $0.isRequired }) else { continue }
            if case .abandoned = machine.state(of: process.service) { continue }
            violations.append("\(name) was told to stop while \(other), which needs it, lives")
        }
    }

    private func name(_ life: Incarnation) -> String {
        machine.service(of: life).map { machine.spec(of: $0).name.text } ?? "\(life)"
    }
}

extension ServiceStopCause {
    /// Whether it is a stop that keeps its place in the order: a failure does not.
    fileprivate var isAskedFor: Bool {
        switch self {
        case .project, .requested, .needStops, .unwanted, .plan: true
        case .needLost, .restart, .failure, .finished, .completed, .forced: false
        }
    }
}
