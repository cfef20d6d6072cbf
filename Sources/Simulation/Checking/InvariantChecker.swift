package import Stoic

/// The invariants of the brain, judged from outside: a table of processes of its own is kept by the
/// events that go in and the effects that come out, and each decision, effect and state is held
/// against it. It belongs to no host: whoever has a machine can have it checked.
package struct InvariantChecker: Sendable {
    /// What is true of each service's process, by slot.
    package private(set) var seats: [Seat]
    /// Whether the bound of the whole stop is armed.
    package private(set) var hasBudgetTimer = false
    /// Whether the project has ended.
    package private(set) var isOver = false
    /// What was found wrong, in words. At most `mostViolations`.
    package private(set) var violations: [String] = []
    private var lastDecision: UInt64 = 0
    private var readyCount = 0
    /// When the whole stop must be over, in awake time.
    private var deadline: Duration?

    /// More than these say nothing that the first ones did not.
    package static let mostViolations = 32

    /// A checker of a machine to which nothing has happened yet.
    package init(_ machine: LifecycleMachine) {
        seats = Array(repeating: Seat(), count: machine.nodes.count)
    }

    /// The service that this incarnation is one of, by slot.
    package func slot(of life: Incarnation) -> Int? { seats.firstIndex { $0.life == life } }

    mutating func violate(_ words: String) {
        guard violations.count < Self.mostViolations else { return }
        violations.append(words)
    }

    // MARK: What goes in

    /// Takes in what is about to be told to `machine`.
    package mutating func expect(_ event: LifecycleEvent, _ machine: LifecycleMachine) {
        switch event {
        case .process(let life, let fact):
            guard let slot = slot(of: life) else { return }
            expect(fact, slot, machine.nodes[slot].spec)
        case .message(let life, let fact):
            guard let slot = slot(of: life) else { return }
            expect(fact, slot, completes: machine.nodes[slot].spec.readiness == .completion)
        case .timer(.fired(.exitBudget)): hasBudgetTimer = false
        case .timer(.fired(let timer)):
            guard let slot = slot(of: timer, machine) else { return }
            seats[slot].timers.remove(TimerSet(timer))
        case .timer(.paused(let pause)):
            deadline = deadline.map { $0.saturatingSum(pause) }
        case .command: break
        }
    }

    private mutating func expect(_ fact: ProcessFact, _ slot: Int, _ spec: ServiceSpec) {
        switch fact {
        case .launched:
            seats[slot].main = .running
            if spec.readiness == .launch { noteReady(slot) }
        case .mainExited(let status):
            seats[slot].main = .exited
            seats[slot].facts.remove(.ready)
            if case .oneshot(_, let keeps) = spec.kind, status.isSuccess {
                seats[slot].isCompleted = keeps
                if keeps { countReady(slot) }
            }
        case .launchFailed, .treeEmpty:
            if case .oneshot(_, false) = spec.kind, fact == .treeEmpty {
                seats[slot].isCompleted = true
            }
            seats[slot].main = .absent
        }
    }

    private mutating func expect(_ fact: MessageFact, _ slot: Int, completes: Bool) {
        switch fact {
        // What completes is not ready by saying so.
        case .ready: if !completes { noteReady(slot) }
        case .notReady: seats[slot].facts.remove(.ready)
        case .channelOpened: seats[slot].facts.insert(.channel)
        case .stopping: seats[slot].facts.insert(.answered)
        case .extendTimeout, .watchdogPing, .watchdogInterval, .watchdogTrigger, .probePassed,
            .probeFailed:
            break
        }
    }

    private mutating func noteReady(_ slot: Int) {
        seats[slot].facts.insert(.ready)
        countReady(slot)
    }

    private mutating func countReady(_ slot: Int) {
        guard seats[slot].readyAt == 0 else { return }
        readyCount += 1
        seats[slot].readyAt = readyCount
    }

    // MARK: What comes out

    /// Judges what the event just taken in led to.
    package mutating func judge(
        _ output: LifecycleOutput, _ machine: LifecycleMachine, at now: Instant
    ) {
        while seats.count < machine.nodes.count { seats.append(Seat()) }
        judge(output.decisions, machine, at: now)
        for effect in output.effects {
            if effect.decision.number + UInt64(output.decisions.count) <= lastDecision {
                violate("an effect of a decision of another turn")
            }
            take(effect.action, machine, at: now)
        }
        judgeState(machine)
    }

    /// Decisions are numbered without gaps, and each but the first of a turn follows from an
    /// earlier one.
    private mutating func judge(
        _ decisions: [LifecycleDecision], _ machine: LifecycleMachine, at now: Instant
    ) {
        if decisions.isEmpty { violate("an event led to no decision") }
        for (index, decision) in decisions.enumerated() {
            if decision.id.number != lastDecision + 1 { violate("a decision is missing") }
            lastDecision = decision.id.number
            if let cause = decision.cause {
                if cause >= decision.id { violate("a decision follows from a later one") }
            } else if index > 0 {
                violate("\(decision.what.name) has no cause")
            }
            note(decision, machine, at: now)
        }
    }

    private mutating func note(
        _ decision: LifecycleDecision, _ machine: LifecycleMachine, at now: Instant
    ) {
        switch decision.what {
        case .defect(let words): violate("defect: \(words)")
        case .projectStopping:
            deadline = now.awake.saturatingSum(machine.settings.exitBudget)
        case .stopRequested(let cause):
            guard let slot = decision.service?.slot else { return }
            seats[slot].asked = cause
            seats[slot].askedWhileReady = seats[slot].readyAt > 0 || seats[slot].isCompleted
        case .stopping(let cause, _):
            guard let slot = decision.service?.slot, cause.keepsOrder else { return }
            judgeTurn(of: slot, machine)
        default: break
        }
    }

    private mutating func take(
        _ action: LifecycleEffect.Action, _ machine: LifecycleMachine, at now: Instant
    ) {
        switch action {
        case .launch(let service, let life): launch(service, life, machine)
        case .arm(let timer, let after, _): arm(timer, after, machine)
        case .disarm(.exitBudget): hasBudgetTimer = false
        case .disarm(let timer):
            if let slot = slot(of: timer, machine) { seats[slot].timers.remove(TimerSet(timer)) }
        case .watchLiveness(_, let life):
            guard let slot = living(life, "a probe") else { return }
            seats[slot].timers.insert(.probes)
        case .endLiveness(let life):
            if let slot = slot(of: life) { seats[slot].timers.remove(.probes) }
        case .postpone, .watchReadiness, .endReadiness: break
        case .forget(let service):
            let seat = seats[service.slot]
            if seat.life != nil || !seat.timers.isEmpty { violate("\(service) lives on") }
            seats[service.slot] = Seat()
        case .kill(let life):
            guard let slot = living(life, "SIGKILL") else { return }
            tell(slot, machine)
            seats[slot].facts.insert(.killed)
        case .signal(let life, _, _), .signalRest(let life, _):
            guard let slot = living(life, "a signal") else { return }
            if seats[slot].main == .pending { violate("a signal to \(life), not launched yet") }
            tell(slot, machine)
            seats[slot].facts.insert(.signalled)
        case .sendStop(let life, _, let deadline):
            guard let slot = living(life, "a message") else { return }
            if !seats[slot].facts.contains(.channel) { violate("a message without channel") }
            if deadline <= .zero { violate("a message without time to answer") }
            seats[slot].facts.insert(.messaged)
            tell(slot, machine)
        case .runStopCommand(let life, _, _, _):
            if let slot = living(life, "a stop command") { tell(slot, machine) }
        case .sendReload(let life):
            guard let slot = living(life, "a reload") else { return }
            if !seats[slot].facts.contains(.channel) { violate("a reload without channel") }
        case .release(let life): release(life)
        case .endProject(let outcome): end(outcome, machine, at: now)
        }
    }

    private mutating func living(_ life: Incarnation, _ what: String) -> Int? {
        guard let slot = slot(of: life), seats[slot].isAlive else {
            violate("\(what) to \(life), which does not live")
            return nil
        }
        return slot
    }

    private mutating func tell(_ slot: Int, _ machine: LifecycleMachine) {
        guard case .stopping = machine.nodes[slot].state else { return }
        if seats[slot].main == .exited { seats[slot].facts.insert(.cleaned) }
        seats[slot].facts.insert(.told)
    }

    private mutating func arm(_ timer: TimerID, _ after: Duration, _ machine: LifecycleMachine) {
        if after < .zero { violate("\(timer) is armed for the past") }
        if case .exitBudget = timer {
            hasBudgetTimer = true
        } else if let slot = slot(of: timer, machine) {
            seats[slot].timers.insert(TimerSet(timer))
        } else {
            violate("\(timer) is armed for nobody")
        }
    }

    private mutating func release(_ life: Incarnation) {
        guard let slot = slot(of: life) else { return violate("\(life) is released twice") }
        if seats[slot].isAlive { violate("\(life) is released alive") }
        let left = seats[slot].timers.subtracting(.backoff)
        if !left.isEmpty { violate("timers of \(life) stay armed: \(left)") }
        let timers = seats[slot].timers
        let isCompleted = seats[slot].isCompleted
        seats[slot] = Seat(gone: life, timers: timers, isCompleted: isCompleted)
    }

    private mutating func launch(
        _ service: ServiceID, _ life: Incarnation, _ machine: LifecycleMachine
    ) {
        let slot = service.slot
        if seats[slot].life != nil {
            violate("two incarnations of \(name(slot, machine)) live at once")
        }
        if machine.isEnding {
            violate("\(name(slot, machine)) was launched after the project's stop")
        }
        judgeNeeds(slot, machine)
        let timers = seats[slot].timers
        seats[slot] = Seat(life: life, gone: seats[slot].gone, main: .pending, timers: timers)
    }

    private mutating func end(
        _ outcome: ProjectOutcome, _ machine: LifecycleMachine, at now: Instant
    ) {
        isOver = true
        for (slot, seat) in seats.enumerated() where seat.isAlive {
            if !outcome.abandoned.contains(machine.nodes[slot].id) {
                violate("the project ended while \(name(slot, machine)) lives")
            }
        }
        // After the last SIGKILL a tree is given at least that long to empty.
        if let deadline, now.awake > deadline + LifecycleMachine.leastKillWait {
            violate("the stop took \(now.awake - deadline) more than its budget")
        }
    }

    /// The service that a timer is about, if it is about one that lives.
    func slot(of timer: TimerID, _ machine: LifecycleMachine) -> Int? {
        switch timer {
        case .exitBudget: nil
        case .backoff(let id): machine.nodes[id.slot].id == id ? id.slot : nil
        case .start(let life), .rung(let life), .kill(let life), .abandon(let life),
            .watchdog(let life), .healthy(let life):
            slot(of: life)
        }
    }

    /// The name of a service, for the words of a violation.
    func name(_ slot: Int, _ machine: LifecycleMachine) -> String {
        machine.nodes[slot].spec.name.text
    }
}
