@testable import Stoic

extension ImaginaryHost {
    /// The invariants that hold between events.
    mutating func checkState() {
        for id in machine.services {
            switch machine.state(of: id) {
            case .waiting(let blockers):
                if blockers.isEmpty { violations.append("\(id) waits for nothing") }
            case .starting(let life, _):
                if !timers.contains(.start(life)) { violations.append("\(id) starts unbounded") }
            case .backingOff:
                if !timers.contains(.backoff(id)) { violations.append("\(id) backs off for ever") }
            case .stopping(let life, let stop): checkStopping(id, life, stop)
            case .up, .abandoned, .ended: break
            }
        }
        checkCounters()
        if machine.isEnding, !isOver, choices(faults: 1, commands: 0).isEmpty {
            violations.append("the project's stop is stuck")
        }
    }

    private mutating func checkStopping(_ id: ServiceID, _ life: Incarnation, _ stop: Stop) {
        switch stop.rung {
        case .queued:
            if machine.holders(of: id).isEmpty { violations.append("\(id) is queued for nothing") }
        case .awaitingLaunch, .messageSent, .acted, .cleaning:
            if !timers.contains(.kill(life)) { violations.append("\(id) stops unbounded") }
        case .killed:
            if !timers.contains(.abandon(life)) { violations.append("\(id) dies unbounded") }
        }
    }

    /// Counters are worth what counting anew gives.
    private mutating func checkCounters() {
        var tally = LifecycleMachine.Tally()
        var alive = machine.nodes.map { _ in 0 }
        var required = alive
        for node in machine.nodes {
            if node.isWanted {
                tally.wanted += 1
                if !node.state.isSettled { tally.unsettled += 1 }
                if !node.state.isOver { tally.living += 1 }
            }
            if node.state.isActive { tally.active += 1 }
            guard node.state.holdsItsNeeds else { continue }
            for (index, need) in node.needs.enumerated() {
                alive[need] += 1
                if node.spec.needs[index].isRequired { required[need] += 1 }
            }
        }
        if tally != machine.tally { violations.append("a tally is off: \(machine.tally)") }
        if alive != machine.nodes.map(\.liveDependents) { violations.append("dependents are off") }
        if required != machine.nodes.map(\.liveRequiredDependents) {
            violations.append("required dependents are off")
        }
    }

    /// Every event that could come next. A fault is a failed launch, a crash, a failure or a tree that
    /// outlives its main process or SIGKILL.
    func choices(faults: Int, commands: Int) -> [Choice] {
        var choices: [Choice] = []
        for (life, process) in processes.sorted(by: { $0.key < $1.key }) {
            switch process.main {
            case .pending:
                choices.append(Choice(.process(life, .launched)))
                if faults > 0 {
                    choices.append(Choice(.process(life, .launchFailed(Self.noFile)), fault: true))
                }
            case .running: running(life, process, faults, &choices)
            case .exited: choices.append(Choice(.process(life, .treeEmpty)))
            }
        }
        for timer in timers where isDue(timer, faults) {
            choices.append(Choice(.timer(.fired(timer)), fault: timer.isFault))
        }
        guard commands > 0, !isOver else { return choices }
        for verb in verbs {
            choices.append(Choice(.command(Command(verb, by: "test")), command: true))
        }
        return choices
    }

    struct Choice {
        let event: LifecycleEvent
        let isFault: Bool
        let isCommand: Bool
        init(_ event: LifecycleEvent, fault: Bool = false, command: Bool = false) {
            self.event = event
            isFault = fault
            isCommand = command
        }
    }

    static let noFile = LaunchFailure(step: "run /no/such", errorNumber: 2)

    private func running(
        _ life: Incarnation, _ process: Process, _ faults: Int, _ choices: inout [Choice]
    ) {
        let spec = machine.spec(of: process.service)
        let isOneshot = spec.readiness == .completion
        let wasAskedToStop = process.wasTold || process.wasKilled
        if !process.isReady, !isOneshot {
            choices.append(Choice(.message(life, .ready)))
        }
        if isOneshot || wasAskedToStop {
            choices.append(Choice(.process(life, .mainExited(.code(0)))))
        }
        if faults > 0, !process.wasKilled {
            choices.append(Choice(.process(life, .mainExited(.code(1))), fault: true))
        }
    }

    /// Timers that judge come only to those that deserve it: a start that hangs is a fault.
    private func isDue(_ timer: TimerID, _ faults: Int) -> Bool {
        !timer.isFault || faults > 0
    }

    private var verbs: [Command.Verb] {
        let ids = machine.services
        return [.stopProject(.requested("test")), .force, .up]
            + ids.flatMap { [.start([$0]), .stop([$0]), .down([$0]), .restart([$0])] }
    }
}

extension TimerID {
    fileprivate var isFault: Bool {
        switch self {
        case .start, .abandon, .watchdog, .exitBudget: true
        case .kill, .rung, .backoff, .healthy: false
        }
    }
}
