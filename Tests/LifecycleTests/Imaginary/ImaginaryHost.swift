@testable import Stoic

/// Imaginary processes under a real brain: carries out effects on a table of facts of its own,
/// offers every event that could come next, and checks each effect against the invariants with that
/// table, never with the brain's.
struct ImaginaryHost: Sendable {
    var machine: LifecycleMachine
    /// What is true of each service's process, by slot.
    var seats: [Seat]
    /// The service that opens its control channel, if one does.
    var opensChannel: Int?
    var hasBudgetTimer = false
    var isOver = false
    /// What the last event led to.
    var output = LifecycleOutput()
    /// What was found wrong, in words.
    var violations: [String] = []
    var lastDecision: UInt64 = 0
    private var readyCount = 0

    /// One service's process, as the world has it.
    struct Seat: Hashable, Sendable {
        /// The incarnation that lives, or was just gone and is not released yet.
        var life: Incarnation?
        /// The one before, which nothing must move any more.
        var gone: Incarnation?
        var main = Main.absent
        var facts = Facts()
        var timers = TimerSet()
        /// When it became ready, as a place in the order of all such moments; 0: it is not.
        var readyAt = 0
        /// What the brain said when it asked for the stop.
        var asked: ServiceStopCause?
        /// Whether it was ready when it was asked to stop.
        var askedWhileReady = false
        /// Whether a oneshot counts as completed.
        var isCompleted = false

        enum Main: Hashable, Sendable {
            case absent
            case pending
            case running
            case exited
        }

        var isAlive: Bool { main != .absent }
    }

    struct Facts: OptionSet, Hashable, Sendable {
        let rawValue: UInt8
        static let ready = Facts(rawValue: 1)
        static let channel = Facts(rawValue: 2)
        static let killed = Facts(rawValue: 4)
        static let told = Facts(rawValue: 8)
        static let messaged = Facts(rawValue: 16)
        static let answered = Facts(rawValue: 32)
        static let cleaned = Facts(rawValue: 64)
        static let signalled = Facts(rawValue: 128)

        // Sets that the walk asks for a million times: a literal would be built anew each time.
        static let toldOrKilled = Facts(rawValue: 8 | 4)
        static let reasonsToEnd = Facts(rawValue: 128 | 4 | 32)
    }

    init(_ machine: LifecycleMachine) {
        self.machine = machine
        seats = Array(repeating: Seat(), count: machine.nodes.count)
    }

    /// The moment at which everything happens, unless a test says otherwise: time passes only by
    /// timers.
    static let moment = Instant(awake: .seconds(1_000), boot: .seconds(1_000))

    mutating func send(_ event: LifecycleEvent, at now: Instant = moment) {
        apply(event)
        output.decisions.removeAll(keepingCapacity: true)
        output.effects.removeAll(keepingCapacity: true)
        machine.handle(event, at: now, into: &output)
        while seats.count < machine.nodes.count { seats.append(Seat()) }
        let result = output
        checkDecisions(result.decisions)
        for effect in result.effects { perform(effect) }
        checkState()
    }

    mutating func command(_ verb: Command.Verb) { send(.command(Command(verb, by: "test"))) }

    func slot(of life: Incarnation) -> Int? { seats.firstIndex { $0.life == life } }

    mutating func violate(_ words: String) { violations.append(words) }

    /// The event as it changes the imaginary world.
    private mutating func apply(_ event: LifecycleEvent) {
        switch event {
        case .process(let life, let fact):
            guard let slot = slot(of: life) else { return }
            apply(fact, slot)
        case .message(let life, let fact):
            guard let slot = slot(of: life) else { return }
            apply(fact, slot)
        case .timer(.fired(.exitBudget)): hasBudgetTimer = false
        case .timer(.fired(let timer)):
            guard let slot = slot(of: timer) else { return }
            seats[slot].timers.remove(TimerSet(timer))
        case .command, .timer(.paused): break
        }
    }

    private mutating func apply(_ fact: ProcessFact, _ slot: Int) {
        switch fact {
        case .launched:
            seats[slot].main = .running
            if machine.nodes[slot].spec.readiness == .launch { noteReady(slot) }
        case .mainExited(let status):
            seats[slot].main = .exited
            noteUnready(slot)
            if case .oneshot(_, let keeps) = machine.nodes[slot].spec.kind, status.isSuccess {
                seats[slot].isCompleted = keeps
                if keeps { countReady(slot) }
            }
        case .launchFailed, .treeEmpty:
            if case .oneshot(_, false) = machine.nodes[slot].spec.kind, fact == .treeEmpty {
                seats[slot].isCompleted = true
            }
            seats[slot].main = .absent
        }
    }

    private mutating func apply(_ fact: MessageFact, _ slot: Int) {
        switch fact {
        case .ready: noteReady(slot)
        case .notReady: seats[slot].facts.remove(.ready)
        case .channelOpened: seats[slot].facts.insert(.channel)
        case .stopping: seats[slot].facts.insert(.answered)
        case .extendTimeout, .watchdogPing, .watchdogInterval, .watchdogTrigger: break
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

    private mutating func noteUnready(_ slot: Int) { seats[slot].facts.remove(.ready) }

    // MARK: Effects

    private mutating func perform(_ effect: LifecycleEffect) {
        if effect.decision.number + UInt64(output.decisions.count) <= lastDecision {
            violate("an effect of a decision of another turn")
        }
        switch effect.action {
        case .launch(let service, let life): launch(service, life)
        case .arm(let timer, let after, _): arm(timer, after)
        case .disarm(.exitBudget): hasBudgetTimer = false
        case .disarm(let timer):
            if let slot = slot(of: timer) { seats[slot].timers.remove(TimerSet(timer)) }
        case .postpone, .watchReadiness, .endReadiness: break
        case .forget(let service):
            let seat = seats[service.slot]
            if seat.life != nil || !seat.timers.isEmpty { violate("\(service) lives on") }
            seats[service.slot] = Seat()
        case .kill(let life):
            guard let slot = living(life, "SIGKILL") else { return }
            tell(slot)
            seats[slot].facts.insert(.killed)
        case .signal(let life, _, _), .signalRest(let life, _):
            guard let slot = living(life, "a signal") else { return }
            if seats[slot].main == .pending { violate("a signal to \(life), not launched yet") }
            tell(slot)
            seats[slot].facts.insert(.signalled)
        case .sendStop(let life, _, let deadline):
            guard let slot = living(life, "a message") else { return }
            if !seats[slot].facts.contains(.channel) { violate("a message without channel") }
            if deadline <= .zero { violate("a message without time to answer") }
            seats[slot].facts.insert(.messaged)
            tell(slot)
        case .runStopCommand(let life, _, _, _):
            if let slot = living(life, "a stop command") { tell(slot) }
        case .sendReload(let life):
            guard let slot = living(life, "a reload") else { return }
            if !seats[slot].facts.contains(.channel) { violate("a reload without channel") }
        case .release(let life): release(life)
        case .endProject(let outcome): end(outcome)
        }
    }

    private mutating func living(_ life: Incarnation, _ what: String) -> Int? {
        guard let slot = slot(of: life), seats[slot].isAlive else {
            violate("\(what) to \(life), which does not live")
            return nil
        }
        return slot
    }

    private mutating func tell(_ slot: Int) {
        guard case .stopping = machine.nodes[slot].state else { return }
        if seats[slot].main == .exited { seats[slot].facts.insert(.cleaned) }
        seats[slot].facts.insert(.told)
    }

    private mutating func arm(_ timer: TimerID, _ after: Duration) {
        if after < .zero { violate("\(timer) is armed for the past") }
        if case .exitBudget = timer {
            hasBudgetTimer = true
        } else if let slot = slot(of: timer) {
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

    private mutating func launch(_ service: ServiceID, _ life: Incarnation) {
        let slot = service.slot
        if seats[slot].life != nil { violate("two incarnations of \(service) live at once") }
        if machine.isEnding { violate("\(service) was launched after the project's stop") }
        checkNeeds(slot)
        let timers = seats[slot].timers
        seats[slot] = Seat(life: life, gone: seats[slot].gone, main: .pending, timers: timers)
    }

    private mutating func end(_ outcome: ProjectOutcome) {
        isOver = true
        for (slot, seat) in seats.enumerated() where seat.isAlive {
            if !outcome.abandoned.contains(machine.nodes[slot].id) {
                violate("the project ended while \(slot) lives")
            }
        }
    }

    /// The service that a timer is about, if it is about one that lives.
    func slot(of timer: TimerID) -> Int? {
        switch timer {
        case .exitBudget: nil
        case .backoff(let id): machine.nodes[id.slot].id == id ? id.slot : nil
        case .start(let life), .rung(let life), .kill(let life), .abandon(let life),
            .watchdog(let life), .healthy(let life):
            slot(of: life)
        }
    }
}

/// The timers of one service.
struct TimerSet: OptionSet, Hashable, Sendable {
    let rawValue: UInt8
    static let start = TimerSet(rawValue: 1)
    static let rung = TimerSet(rawValue: 2)
    static let kill = TimerSet(rawValue: 4)
    static let abandon = TimerSet(rawValue: 8)
    static let watchdog = TimerSet(rawValue: 16)
    static let healthy = TimerSet(rawValue: 32)
    static let backoff = TimerSet(rawValue: 64)

    static let whileUp = TimerSet(rawValue: 16 | 32)
}

extension TimerSet {
    init(_ timer: TimerID) {
        switch timer {
        case .start: self = .start
        case .rung: self = .rung
        case .kill: self = .kill
        case .abandon: self = .abandon
        case .watchdog: self = .watchdog
        case .healthy: self = .healthy
        case .backoff: self = .backoff
        case .exitBudget: self = TimerSet()
        }
    }
}
