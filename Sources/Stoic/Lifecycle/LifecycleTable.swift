/// The table of services: how a state changes, and what a change means to counters and neighbours.
extension LifecycleMachine {
    /// What of all services together the rules ask about.
    package struct Tally: Hashable, Sendable {
        /// Wanted services.
        package var wanted = 0
        /// Wanted services that are neither ready nor completed.
        package var unsettled = 0
        /// Wanted services that have not ended, or are held and may come back.
        package var living = 0
        /// Services that are not ended and not abandoned.
        package var active = 0

        package init() {}
    }

    @discardableResult
    mutating func addNode(_ spec: Shared<ServiceSpec>) -> Int {
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
            let generation = nodes[slot].id.generation + 1
            nodes[slot] = Node(id: ServiceID(slot: slot, generation: generation), spec: spec)
        } else {
            slot = nodes.count
            nodes.append(Node(id: ServiceID(slot: slot), spec: spec))
        }
        slotOfName[spec.wrappedValue.name] = slot
        return slot
    }

    /// Lays the edges of `graph`, whose service `n` lives in `slots[n]`. Its services have no edges
    /// yet.
    mutating func connect(_ graph: DependencyGraph, slots: [Int]) {
        let depths = graph.depths
        for (number, slot) in slots.enumerated() {
            nodes[slot].needs = graph.needs[number].map { slots[$0] }
            nodes[slot].depth = depths[number]
            for (need, target) in nodes[slot].needs.enumerated() {
                nodes[target].dependents.append(Node.Dependent(slot: slot, need: need))
            }
        }
    }

    /// The one way a state changes.
    mutating func setState(_ slot: Int, _ state: ServiceState, _ turn: inout Turn) {
        let before = nodes[slot].state
        count(slot, -1)
        nodes[slot].state = state
        count(slot, +1)
        if before.incarnation != state.incarnation {
            if let old = before.incarnation { slotOfIncarnation[old] = nil }
            if let new = state.incarnation { slotOfIncarnation[new] = slot }
        }
        if before.holdsItsNeeds != state.holdsItsNeeds {
            noteTree(of: slot, isLive: state.holdsItsNeeds)
        }
        announce(slot, from: before.offers, to: state.offers, &turn)
    }

    private mutating func count(_ slot: Int, _ sign: Int) {
        if nodes[slot].isWanted {
            tally.wanted += sign
            if !nodes[slot].state.isSettled { tally.unsettled += sign }
            if !nodes[slot].state.isOver { tally.living += sign }
        }
        if nodes[slot].state.isActive { tally.active += sign }
    }

    /// The one way owners change. Answers whether the service became wanted or unwanted.
    mutating func setOwners(_ slot: Int, _ owners: Node.Owners) -> Bool {
        let before = nodes[slot].isWanted
        count(slot, -1)
        nodes[slot].owners = owners
        count(slot, +1)
        return before != nodes[slot].isWanted
    }

    private mutating func noteTree(of slot: Int, isLive: Bool) {
        let step = isLive ? 1 : -1
        for (index, need) in nodes[slot].needs.enumerated() {
            nodes[need].liveDependents += step
            if nodes[slot].spec.needs[index].isRequired {
                nodes[need].liveRequiredDependents += step
            }
            if !isLive { stops.noteFreed(need, nodes[need]) }
        }
    }

    private func announce(
        _ slot: Int, from before: Offers, to after: Offers, _ turn: inout Turn
    ) {
        guard before != after else { return }
        for dependent in nodes[slot].dependents {
            let need = nodes[dependent.slot].spec.needs[dependent.need]
            let wasMet = before.meets(need)
            let isMet = after.meets(need)
            guard wasMet != isMet else { continue }
            turn.queue(
                NeedEvent(
                    slot: dependent.slot, need: dependent.need, fact: isMet ? .met : .lost,
                    cause: turn.cause))
        }
    }

    /// The needs of a service that are not met now. One that is to stop meets nothing new, though
    /// those that run may still use it.
    func unmetNeeds(of slot: Int) -> Blockers {
        var blockers = Blockers()
        for (index, need) in nodes[slot].spec.needs.enumerated() {
            let state = nodes[nodes[slot].needs[index]].state
            if state.isQueued || !state.offers.meets(need) { blockers.needs.append(index) }
        }
        return blockers
    }

    // MARK: Reporting

    /// Records a decision. What follows in this turn follows from it.
    @discardableResult
    mutating func report(_ verdict: Verdict, _ slot: Int?, _ turn: inout Turn) -> DecisionID {
        history.decisions += 1
        let id = DecisionID(history.decisions)
        turn.output.decisions.append(
            LifecycleDecision(
                id: id, cause: turn.cause, service: slot.map { nodes[$0].id },
                incarnation: slot.flatMap { nodes[$0].state.incarnation }, what: verdict))
        turn.cause = id
        if let slot { nodes[slot].lastDecision = id }
        return id
    }

    /// Asks the host for something, in the name of the decision recorded last; at the begin of a
    /// turn, of the one that is about to be.
    func perform(_ action: LifecycleEffect.Action, _ turn: inout Turn) {
        let decision = turn.output.decisions.last?.id ?? DecisionID(history.decisions + 1)
        turn.output.effects.append(LifecycleEffect(decision: decision, action: action))
    }
}

extension ServiceState {
    /// Whether it is where a wanted service is meant to be.
    package var isSettled: Bool {
        switch self {
        case .up(_, .ready), .up(_, .completed), .ended(.completed): true
        case .ended(.exited(let status)): status.isSuccess
        case .waiting, .starting, .up(_, .notReady), .stopping, .backingOff, .abandoned: false
        case .ended(.neverStarted), .ended(.held), .ended(.stopped), .ended(.failed),
            .ended(.gaveUp):
            false
        }
    }

    /// Whether it ended and nobody is expected to start it again.
    package var isOver: Bool {
        switch self {
        case .ended(.held): false
        case .ended: true
        case .waiting, .starting, .up, .stopping, .backingOff, .abandoned: false
        }
    }

    /// Whether the end of the project waits for it.
    package var isActive: Bool {
        switch self {
        case .ended, .abandoned: false
        case .waiting, .starting, .up, .stopping, .backingOff: true
        }
    }
}
