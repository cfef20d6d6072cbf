/// Hands an event about an incarnation to the function of its service's state. An event about an
/// earlier incarnation is stale: it is reported and changes nothing.
extension LifecycleMachine {
    mutating func take(_ life: Incarnation, _ fact: ProcessFact, _ turn: inout Turn) {
        guard let slot = slotOfIncarnation[life] else {
            report(.stale, nil, &turn)
            return
        }
        turn.cause = nodes[slot].lastDecision
        switch nodes[slot].state {
        case .starting(_, let phase): whileStarting(slot, life, phase, fact, &turn)
        case .up(_, let health): whileUp(slot, life, health, fact, &turn)
        case .stopping(_, let stop): whileStopping(slot, life, stop, fact, &turn)
        case .abandoned(_, let next): whileAbandoned(slot, life, next, fact, &turn)
        case .waiting, .backingOff, .ended: reportDefect("a process without a state", slot, &turn)
        }
    }

    mutating func take(_ life: Incarnation, _ fact: MessageFact, _ turn: inout Turn) {
        guard let slot = slotOfIncarnation[life] else {
            report(.stale, nil, &turn)
            return
        }
        turn.cause = nodes[slot].lastDecision
        switch nodes[slot].state {
        case .starting(_, let phase): whileStarting(slot, life, phase, fact, &turn)
        case .up(_, let health): whileUp(slot, life, health, fact, &turn)
        case .stopping(_, let stop): whileStopping(slot, life, stop, fact, &turn)
        case .abandoned: report(.noted, slot, &turn)
        case .waiting, .backingOff, .ended: reportDefect("a message without a state", slot, &turn)
        }
    }

    mutating func take(_ timer: TimerID, _ turn: inout Turn) {
        switch timer {
        case .exitBudget: exitBudgetPassed(&turn)
        case .backoff(let id): backoffPassed(id, &turn)
        case .start(let life), .rung(let life), .kill(let life), .abandon(let life),
            .watchdog(let life), .healthy(let life):
            guard let slot = slotOfIncarnation[life] else {
                report(.stale, nil, &turn)
                return
            }
            turn.cause = nodes[slot].lastDecision
            take(timer, of: life, slot, &turn)
        }
    }

    private mutating func take(
        _ timer: TimerID, of life: Incarnation, _ slot: Int, _ turn: inout Turn
    ) {
        switch nodes[slot].state {
        case .starting(_, let phase): whileStarting(slot, life, phase, timer, &turn)
        case .up(_, let health): whileUp(slot, life, health, timer, &turn)
        case .stopping(_, let stop): whileStopping(slot, life, stop, timer, &turn)
        case .abandoned: report(.stale, slot, &turn)
        case .waiting, .backingOff, .ended: reportDefect("a timer without a state", slot, &turn)
        }
    }

    private mutating func backoffPassed(_ id: ServiceID, _ turn: inout Turn) {
        guard let slot = slot(of: id) else {
            report(.stale, nil, &turn)
            return
        }
        turn.cause = nodes[slot].lastDecision
        switch nodes[slot].state {
        case .backingOff: enterWaiting(slot, &turn)
        case .stopping(let life, var stop) where stop.then == .again(delayed: true):
            stop.then = .again(delayed: false)
            setState(slot, .stopping(life, stop), &turn)
            report(.noted, slot, &turn)
        case .abandoned(let life, .again(delayed: true)):
            setState(slot, .abandoned(life, .again(delayed: false)), &turn)
            report(.noted, slot, &turn)
        case .waiting, .starting, .up, .stopping, .abandoned, .ended:
            report(.stale, slot, &turn)
        }
    }

    mutating func deliver(_ event: NeedEvent, _ turn: inout Turn) {
        turn.cause = event.cause
        let slot = event.slot
        switch nodes[slot].state {
        case .waiting(let blockers): whileWaiting(slot, blockers, event, &turn)
        case .starting, .up: whileRunning(slot, event, &turn)
        case .ended(.completed): whileCompleted(slot, event, &turn)
        case .stopping, .backingOff, .abandoned, .ended: break
        // They look at their needs anew when they come to wait for them.
        }
    }

    mutating func reportDefect(_ words: String, _ slot: Int?, _ turn: inout Turn) {
        report(.defect(words), slot, &turn)
    }

    func slot(of id: ServiceID) -> Int? {
        guard nodes.indices.contains(id.slot), nodes[id.slot].id == id,
            slotOfName[nodes[id.slot].spec.name] == id.slot
        else { return nil }
        return id.slot
    }
}
