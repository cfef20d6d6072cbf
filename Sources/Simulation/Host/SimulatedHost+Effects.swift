package import Stoic

/// What the brain asks for, and what imaginary processes do about it.
extension SimulatedHost {
    /// A launch that fails for lack of its program.
    package static let noFile = LaunchFailure(step: "run its program", errorNumber: 2)

    /// The brain hears an event, now, and what it asks for is done.
    package mutating func send(_ event: LifecycleEvent) {
        events += 1
        checked.send(event, at: now)
        for decision in checked.output.decisions {
            let name = decision.service.map { machine.nodes[$0.slot].spec.name }
            journal.append(Entry(at: now, service: name, decision: decision))
        }
        if claimed == nil, let claim { claimed = claim(machine) }
        let asked = checked.output.effects
        for effect in asked { perform(effect.action) }
        if case .process(let life, .launched) = event { play(life) }
    }

    private mutating func perform(_ action: LifecycleEffect.Action) {
        if keepsEffects { effects.append(action) }
        switch action {
        case .launch(let id, let life): launch(machine.nodes[id.slot].spec.name, life)
        case .arm(let timer, let after, let clock):
            order += 1
            let due = now.reading(of: clock).saturatingSum(after)
            arm(timer, Alarm(due: due, clock: clock, order: order))
        case .disarm(let timer): alarms[timer] = nil
        case .postpone(let timer, let by):
            guard let alarm = alarms[timer] else { return }
            let due = alarm.due.saturatingSum(by)
            arm(timer, Alarm(due: due, clock: alarm.clock, order: alarm.order))
        case .signal(let life, _, _), .signalRest(let life, _): told(life) { $0.term }
        case .runStopCommand(let life, _, _, _): told(life) { $0.command }
        case .sendStop(let life, _, _): answer(life)
        case .kill(let life): kill(life)
        case .endProject(let how): outcome = how
        case .watchLiveness(_, let life):
            probedSince[life] = now.awake
            failProbes(life)
        case .endLiveness(let life): probedSince[life] = nil
        case .watchReadiness, .endReadiness, .sendReload, .release, .forget: break
        }
    }

    private mutating func arm(_ timer: TimerID, _ alarm: Alarm) {
        alarms[timer] = alarm
        switch alarm.clock {
        case .awake: awake.insert(.alarm(timer), due: alarm.due, order: alarm.order)
        case .boot: boot.insert(.alarm(timer), due: alarm.due, order: alarm.order)
        }
    }

    private mutating func after(_ wait: Duration, _ event: LifecycleEvent) {
        order += 1
        awake.insert(.event(event), due: now.awake.saturatingSum(wait), order: order)
    }

    /// The incarnation of a service whose main process runs.
    func running(_ name: ServiceName) -> Incarnation? {
        guard let id = machine.service(named: name) else { return nil }
        let seat = checked.seats[id.slot]
        return seat.main == .running ? seat.life : nil
    }

    private func seat(_ life: Incarnation) -> Seat? { checked.seats.first { $0.life == life } }

    private func behaviour(_ life: Incarnation) -> Behaviour {
        guard let id = machine.service(of: life) else { return .good }
        return behaviours[machine.nodes[id.slot].spec.name] ?? .good
    }

    /// What was planned for an incarnation happens no more.
    mutating func void(_ life: Incarnation) {
        order += 1
        voidBefore[life] = order
    }

    // MARK: Starting

    private mutating func launch(_ name: ServiceName, _ life: Incarnation) {
        let behaviour = behaviours[name] ?? .good
        launches[name, default: 0] += 1
        guard let wait = behaviour.launch else { return }
        let fails = launches[name, default: 0] <= behaviour.failedLaunches
        after(wait, .process(life, fails ? .launchFailed(Self.noFile) : .launched))
    }

    /// What a process does once it is launched.
    private mutating func play(_ life: Incarnation) {
        guard let id = machine.service(of: life) else { return }
        let spec = machine.spec(of: id)
        let behaviour = behaviours[spec.name] ?? .good
        if behaviour.hasChannel { after(.zero, .message(life, .channelOpened)) }
        if spec.readiness == .reported, let wait = behaviour.ready {
            after(wait, .message(life, .ready))
        }
        let number = launches[spec.name, default: 1] - 1
        if let exit = behaviour.exits[min(number, behaviour.exits.count - 1)] {
            after(exit.after, .process(life, .mainExited(exit.status)))
        }
        chatter(life, behaviour.chatter)
        if behaviour.pings, let limit = spec.watchdog { ping(life, every: limit / 2) }
    }

    /// What a watchdog expects. Each message plans the next one: see `follow`.
    private mutating func ping(_ life: Incarnation, every interval: Duration) {
        after(max(interval, .milliseconds(1)), .message(life, .watchdogPing))
    }

    /// The first of the probes that fail, if they do. Each plans the next one: see `follow`.
    private mutating func failProbes(_ life: Incarnation) {
        let behaviour = behaviour(life)
        guard !behaviour.answersProbes, let since = probedSince[life] else { return }
        let interval = max(behaviour.probeInterval, .milliseconds(1))
        // Those that succeeded until now took no time.
        let rounds = Int((now.awake - since) / interval) + 1
        let due = since.saturatingSum(interval * rounds)
        after(due - now.awake + behaviour.probeTimeout, .message(life, Self.hangs))
    }

    private static let hangs = MessageFact.probeFailed("it hangs")

    /// What follows from an event by itself: the next message to a watchdog, the next probe.
    mutating func follow(_ event: LifecycleEvent) {
        guard case .message(let life, let fact) = event, let id = machine.service(of: life) else {
            return
        }
        switch fact {
        case .watchdogPing:
            guard behaviour(life).pings, let limit = machine.nodes[id.slot].spec.watchdog else {
                return
            }
            ping(life, every: limit / 2)
        case .probeFailed:
            guard probedSince[life] != nil else { return }
            let wait = behaviour(life).probeInterval.saturatingSum(behaviour(life).probeTimeout)
            after(max(wait, .milliseconds(1)), .message(life, Self.hangs))
        case .probePassed, .ready, .notReady, .channelOpened, .stopping, .extendTimeout,
            .watchdogInterval, .watchdogTrigger:
            break
        }
    }

    /// Its process hangs: what it was about to do it does not do any more, and what probes it
    /// learns that.
    mutating func hang(_ name: ServiceName) {
        silence(name)
        behaviours[name, default: .good].hang()
        if let life = running(name) { failProbes(life) }
    }

    /// The messages of a process that lies, or that floods us.
    mutating func chatter(_ life: Incarnation, _ kind: Behaviour.Chatter) {
        switch kind {
        case .none: break
        case .lies:
            let lies: [MessageFact] = [
                .ready, .notReady("a lie"), .extendTimeout(.century), .ready, .stopping,
                .watchdogInterval(nil), .notReady("a lie"), .ready,
            ]
            for (index, lie) in lies.enumerated() {
                after(.milliseconds(50 * index), .message(life, lie))
            }
        case .floods:
            for number in 0..<Self.flood {
                let fact: MessageFact =
                    number.isMultiple(of: 2) ? .watchdogPing : .extendTimeout(.seconds(1))
                after(.milliseconds(number), .message(life, fact))
            }
        }
    }

    /// Messages of a flood, one each millisecond.
    package static let flood = 1_000

    // MARK: Stopping

    private mutating func answer(_ life: Incarnation) {
        switch behaviour(life).answer {
        case .none: break
        case .only: after(.zero, .message(life, .stopping))
        case .exits(let wait):
            after(.zero, .message(life, .stopping))
            told(life) { _ in wait }
        }
    }

    private mutating func told(_ life: Incarnation, _ wait: (Behaviour) -> Duration?) {
        guard seat(life)?.main == .running, let wait = wait(behaviour(life)) else { return }
        after(wait, .process(life, .mainExited(.code(0))))
    }

    private mutating func kill(_ life: Incarnation) {
        guard let seat = seat(life), !behaviour(life).survivesKill else { return }
        void(life)
        let fact: ProcessFact =
            switch seat.main {
            case .exited: .treeEmpty
            case .pending: .launchFailed(Self.noFile)
            case .running, .absent: .mainExited(.signal(9, coreDumped: false))
            }
        after(.zero, .process(life, fact))
    }

    /// A main process ends, and what it left of its tree with it or later.
    mutating func exit(_ life: Incarnation, _ status: ExitStatus) {
        void(life)
        let isKilled = seat(life)?.facts.contains(.killed) == true
        if let wait = isKilled ? .zero : behaviour(life).tree {
            after(wait, .process(life, .treeEmpty))
        }
        send(.process(life, .mainExited(status)))
    }
}

extension LifecycleEvent {
    /// The incarnation it is about.
    var life: Incarnation? {
        switch self {
        case .process(let life, _), .message(let life, _): life
        case .command, .timer: nil
        }
    }
}
