/// What somebody wants, turned into what it means to each service.
extension LifecycleMachine {
    mutating func take(_ command: Command, _ turn: inout Turn) {
        turn.cause = nil
        if let refusal = refusal(of: command.verb) {
            report(.refused(verb: command.verb.name, by: command.requester, refusal), nil, &turn)
            return
        }
        report(.accepted(verb: command.verb.name, by: command.requester), nil, &turn)
        switch command.verb {
        case .up:
            wantsAll = true
            let automatic = nodes.indices.filter {
                isPresent($0) && nodes[$0].spec.startsAutomatically
            }
            want(automatic, named: false, &turn)
        case .start(let ids): want(ids.map(\.slot), named: true, &turn)
        case .stop(let ids): stop(ids, by: command.requester, dropsWish: false, &turn)
        case .down(let ids): stop(ids, by: command.requester, dropsWish: true, &turn)
        case .restart(let ids): restart(ids.map(\.slot), by: command.requester, &turn)
        case .stopProject(let cause): requestProjectStop(cause, &turn)
        case .force: force(by: command.requester, &turn)
        case .signal(let id, let number, let target):
            sendSignal(id.slot, number, target, &turn)
        case .reload(let id, let number): reload(id.slot, number, &turn)
        case .plan(let plan): execute(plan, &turn)
        case .adopt, .freeze, .replicas: break  // Refused above: not yet.
        }
    }

    private func refusal(of verb: Command.Verb) -> Refusal? {
        switch verb {
        case .up, .plan: return isEnding ? .projectStopping : nil
        case .start(let ids), .restart(let ids):
            return isEnding ? .projectStopping : unknown(ids)
        case .stop(let ids), .down(let ids): return unknown(ids)
        case .signal(let id, _, _), .reload(let id, _):
            guard let slot = slot(of: id) else { return .unknownService }
            return runsMain(nodes[slot].state) ? nil : .notRunning
        case .stopProject, .force: return nil
        case .adopt, .freeze, .replicas: return .notYet
        }
    }

    private func unknown(_ ids: [ServiceID]) -> Refusal? {
        ids.allSatisfy { id in slot(of: id).map(isPresent) ?? false } ? nil : .unknownService
    }

    private func runsMain(_ state: ServiceState) -> Bool {
        switch state {
        case .starting(_, .probing), .up(_, .ready), .up(_, .notReady): true
        case .stopping(_, let stop): stop.main == .running
        case .starting(_, .launching), .up(_, .completed), .waiting, .backingOff, .abandoned,
            .ended:
            false
        }
    }

    /// Whether the slot has a tenant that is not leaving.
    func isPresent(_ slot: Int) -> Bool {
        slotOfName[nodes[slot].spec.name] == slot && !nodes[slot].state.isLeaving
    }

    // MARK: Starting

    /// The user owns `slots`, and they and what they need are started. `named`: by name, which also
    /// runs again what has completed, and forgives what failed.
    mutating func want(_ slots: [Int], named: Bool, _ turn: inout Turn) {
        if phase == .idle { phase = .comingUp }
        for slot in slots { _ = own(slot, byUser: true) }
        let asked = Set(slots)
        var woken: [Int] = []
        for slot in closure(of: slots, over: { nodes[$0].needs }) {
            let byName = named && asked.contains(slot)
            if wakes(slot, byName: byName, &turn) { woken.append(slot) }
        }
        // First all of them wait, then each looks at what is in its way: a need that is about to
        // start must not count as settled.
        for slot in woken {
            var blockers = Blockers()
            for need in nodes[slot].needs.indices { blockers.insert(need) }
            setState(slot, .waiting(blockers), &turn)
        }
        let cause = turn.cause
        for slot in woken {
            turn.cause = cause
            enterWaiting(slot, &turn)
        }
    }

    private mutating func wakes(_ slot: Int, byName: Bool, _ turn: inout Turn) -> Bool {
        if byName { nodes[slot].ledger.reset() }
        switch nodes[slot].state {
        case .ended(.completed): return byName
        case .ended(.exited(let status)): return byName || !status.isSuccess
        case .ended:
            nodes[slot].ledger.reset()
            return true
        case .backingOff where byName:
            perform(.disarm(.backoff(nodes[slot].id)), &turn)
            return true
        case .stopping(let life, var stop):
            stop.then = revived(slot, stop.then, byName, &turn)
            setState(slot, .stopping(life, stop), &turn)
            return false
        case .abandoned(let life, let next):
            setState(slot, .abandoned(life, revived(slot, next, byName, &turn)), &turn)
            return false
        case .waiting, .starting, .up, .backingOff: return false
        }
    }

    /// What follows a stop when somebody wants the service after all: another launch, which skips
    /// its delay when it was asked for by name.
    private func revived(
        _ slot: Int, _ then: AfterStop, _ byName: Bool, _ turn: inout Turn
    ) -> AfterStop {
        switch then {
        case .forget: return .forget
        case .again(delayed: true):
            guard byName else { return then }
            perform(.disarm(.backoff(nodes[slot].id)), &turn)
            return .again(delayed: false)
        case .again(delayed: false), .end: return .again(delayed: false)
        }
    }

    // MARK: Stopping

    private mutating func stop(
        _ ids: [ServiceID], by requester: String, dropsWish: Bool, _ turn: inout Turn
    ) {
        guard !isEnding else { return }
        let named = Set(ids.map(\.slot))
        let members = closure(of: ids.map(\.slot)) { slot in
            nodes[slot].dependents.filter {
                nodes[$0.slot].spec.needs[$0.need].isRequired
            }.map(\.slot)
        }
        let cause = turn.cause
        // What was asked for by name keeps that as its reason: the rest of what nobody wants
        // follows.
        var unwanted: [Int] = []
        if dropsWish {
            for slot in members { unwanted += own(slot, byUser: false) }
        }
        for slot in members {
            turn.cause = cause
            let isNamed = named.contains(slot)
            let why: ServiceStopCause =
                isNamed
                ? .requested(requester)
                : .needStops(nearest(named, above: slot) ?? ids[0], requester)
            requestStop(slot, why, then: afterCommand(slot, isNamed, requester, dropsWish), &turn)
        }
        let asked = Set(members)
        for slot in unwanted where !asked.contains(slot) {
            turn.cause = cause
            requestStop(slot, .unwanted, then: .end(.stopped), &turn)
        }
    }

    private func afterCommand(
        _ slot: Int, _ isNamed: Bool, _ requester: String, _ dropsWish: Bool
    ) -> AfterStop {
        if isNamed, !dropsWish || nodes[slot].isWanted { return .end(.held(requester)) }
        return dropsWish ? .end(.stopped) : .again(delayed: false)
    }

    /// The named service that `slot` needs, directly if it can be.
    private func nearest(_ named: Set<Int>, above slot: Int) -> ServiceID? {
        let path = closure(of: [slot], over: { nodes[$0].needs })
        return path.first { named.contains($0) }.map { nodes[$0].id }
    }

    private mutating func restart(_ slots: [Int], by requester: String, _ turn: inout Turn) {
        let cause = turn.cause
        for slot in slots {
            turn.cause = cause
            nodes[slot].ledger.reset()
            switch nodes[slot].state {
            case .starting, .up:
                stopNow(slot, .restart(requester), &turn)
            case .waiting, .backingOff, .stopping, .abandoned, .ended:
                want([slot], named: true, &turn)
            }
        }
    }

    /// The stop of a service that comes back: its dependents stay, and nothing waits for its turn.
    mutating func stopNow(
        _ slot: Int, _ cause: ServiceStopCause, then: AfterStop = .again(delayed: false),
        _ turn: inout Turn
    ) {
        requestStop(slot, cause, then: then, &turn)
        guard !isEnding, nodes[slot].state.isQueued else { return }
        stops.leave(slot)
        beginStop(slot, &turn)
    }

    private mutating func sendSignal(
        _ slot: Int, _ number: Int32, _ target: SignalTarget, _ turn: inout Turn
    ) {
        guard let life = nodes[slot].state.incarnation else { return }
        report(.signalled(number, target), slot, &turn)
        perform(.signal(life, number, target), &turn)
    }

    private mutating func reload(_ slot: Int, _ number: Int32, _ turn: inout Turn) {
        guard let life = nodes[slot].state.incarnation else { return }
        report(.reloadSent, slot, &turn)
        if nodes[slot].facts.hasChannel {
            perform(.sendReload(life), &turn)
        } else {
            perform(.signal(life, number, .main), &turn)
        }
    }
}

extension ServiceState {
    /// Whether it is on its way out of the project.
    package var isLeaving: Bool {
        switch self {
        case .stopping(_, let stop): stop.then == .forget
        case .abandoned(_, let next): next == .forget
        case .waiting, .starting, .up, .backingOff, .ended: false
        }
    }
}

extension Command.Verb {
    /// The verb as the command line spells it.
    public var name: String {
        switch self {
        case .up: "up"
        case .start: "start"
        case .stop: "stop"
        case .down: "down"
        case .restart: "restart"
        case .stopProject: "stop"
        case .force: "force"
        case .signal: "signal"
        case .reload: "reload"
        case .plan: "plan"
        case .adopt: "adopt"
        case .freeze: "freeze"
        case .replicas: "replicas"
        }
    }
}
