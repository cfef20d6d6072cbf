import Simulation

@testable import Stoic

/// One event that could come next, and what it costs.
struct Choice {
    let event: LifecycleEvent
    let cost: Cost

    enum Cost {
        case free
        case fault
        case command
    }

    init(_ event: LifecycleEvent, _ cost: Cost = .free) {
        self.event = event
        self.cost = cost
    }
}

/// What a walk may still use of what goes wrong and of what somebody may ask for.
struct Allowance: Hashable {
    var faults: Int
    var commands: Int
    var verbs = Verbs.all
    /// Plans that a command may carry.
    var plans: [Plan] = []
    /// The service that opens its control channel, if one does.
    var opensChannel: Int?

    enum Verbs: Hashable {
        case all
        /// Only `force`: the end of the project costs nothing.
        case endOnly
        /// Only plans.
        case plansOnly
    }

    func after(_ cost: Choice.Cost) -> Allowance {
        var left = self
        switch cost {
        case .free: break
        case .fault: left.faults -= 1
        case .command: left.commands -= 1
        }
        return left
    }
}

extension CheckedMachine {
    /// The moment at which everything happens in a walk: time passes only by timers.
    static let moment = Instant(awake: .seconds(1_000), boot: .seconds(1_000))

    mutating func send(_ event: LifecycleEvent) { send(event, at: Self.moment) }

    mutating func command(_ verb: Command.Verb) { send(.command(Command(verb, by: "test"))) }

    /// Every event that could come next. A fault is a failed launch, an unasked exit, a lost
    /// readiness, a limit passed, or a tree that outlives SIGTERM or SIGKILL. The end of the
    /// project can be asked for at any time and costs nothing.
    func choices(_ allowance: Allowance) -> [Choice] {
        var choices: [Choice] = []
        for slot in seats.indices { addEvents(slot, allowance, &choices) }
        if checker.hasBudgetTimer, allowance.faults > 0 {
            choices.append(Choice(.timer(.fired(.exitBudget)), .fault))
        }
        if !isOver { addCommands(allowance, &choices) }
        return choices
    }

    /// Every event that could come next about one service.
    func addEvents(_ slot: Int, _ allowance: Allowance, _ choices: inout [Choice]) {
        addTimers(slot, allowance, &choices)
        guard let life = seats[slot].life else { return }
        switch seats[slot].main {
        case .absent: break
        case .pending:
            choices.append(Choice(.process(life, .launched)))
            if allowance.faults > 0 {
                choices.append(Choice(.process(life, .launchFailed(SimulatedHost.noFile)), .fault))
            }
        case .running: addRunning(slot, life, allowance, &choices)
        case .exited: choices.append(Choice(.process(life, .treeEmpty)))
        }
    }

    private func addTimers(_ slot: Int, _ allowance: Allowance, _ choices: inout [Choice]) {
        let seat = seats[slot]
        func add(_ timer: TimerID, _ cost: Choice.Cost) {
            guard seat.timers.contains(TimerSet(timer)) else { return }
            if cost == .fault, allowance.faults == 0 { return }
            choices.append(Choice(.timer(.fired(timer)), cost))
        }
        add(.backoff(machine.nodes[slot].id), .free)
        guard let life = seat.life else { return }
        add(.start(life), .fault)
        add(.rung(life), .free)
        // What got no signal cannot be blamed for living on.
        add(.kill(life), seat.facts.contains(.signalled) ? .fault : .free)
        add(.abandon(life), .fault)
        add(.watchdog(life), .fault)
        add(.healthy(life), .free)
    }

    private func addRunning(
        _ slot: Int, _ life: Incarnation, _ allowance: Allowance, _ choices: inout [Choice]
    ) {
        let seat = seats[slot]
        let spec = machine.nodes[slot].spec
        let isOneshot = spec.readiness == .completion
        let isTold = !seat.facts.isDisjoint(with: .toldOrKilled)
        if spec.readiness == .reported, !seat.facts.contains(.ready), !isTold {
            choices.append(Choice(.message(life, .ready)))
        }
        if allowance.opensChannel == slot, !seat.facts.contains(.channel), !isTold {
            choices.append(Choice(.message(life, .channelOpened)))
        }
        if seat.facts.contains(.messaged), !seat.facts.contains(.answered) {
            choices.append(Choice(.message(life, .stopping)))
        }
        let mayEnd = !seat.facts.isDisjoint(with: .reasonsToEnd)
        if isOneshot || mayEnd { choices.append(Choice(.process(life, .mainExited(.code(0))))) }
        guard allowance.faults > 0, !isTold else { return }
        choices.append(Choice(.process(life, .mainExited(.code(1))), .fault))
        if !isOneshot { choices.append(Choice(.process(life, .mainExited(.code(0))), .fault)) }
        if seat.timers.contains(.watchdog) {
            choices.append(Choice(.message(life, .watchdogTrigger), .fault))
        }
        if seat.timers.contains(.probes) {
            choices.append(Choice(.message(life, .probeFailed("test")), .fault))
            // One that passes changes nothing where none failed.
            if machine.nodes[slot].facts.failedProbes != 0 {
                choices.append(Choice(.message(life, .probePassed)))
            }
        }
        if spec.readiness == .reported, seat.facts.contains(.ready) {
            choices.append(Choice(.message(life, .notReady("test")), .fault))
        }
    }

    private func addCommands(_ allowance: Allowance, _ choices: inout [Choice]) {
        if !machine.isEnding {
            choices.append(Choice(.command(Command(.stopProject(.requested("test")), by: "test"))))
        }
        guard allowance.commands > 0 else { return }
        var verbs: [Command.Verb] = machine.wasForced ? [] : [.force]
        if !machine.isEnding {
            verbs += allowance.plans.map { .plan($0) }
            if allowance.verbs == .all {
                verbs.append(.up)
                for id in machine.services {
                    verbs += [.start([id]), .stop([id]), .down([id]), .restart([id])]
                }
            }
        }
        for verb in verbs { choices.append(Choice(.command(Command(verb, by: "test")), .command)) }
    }
}
