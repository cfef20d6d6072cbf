/// A changed config as data: the services as they are to be. A value of this type has passed the
/// checks of a graph, so a bad config cannot become one.
public struct Plan: Hashable, Sendable {
    /// The services, in the order of the config.
    public var specs: [ServiceSpec] { shared.map(\.wrappedValue) }
    /// The same, shared with the table of services.
    let shared: [Shared<ServiceSpec>]
    /// Whether the services become what they were when one that the plan touched fails to start.
    public let rollsBack: Bool
    let graph: DependencyGraph

    /// The same services, to be kept whatever becomes of them.
    var withoutRollback: Plan { Plan(shared: shared, rollsBack: false, graph: graph) }

    private init(shared: [Shared<ServiceSpec>], rollsBack: Bool, graph: DependencyGraph) {
        self.shared = shared
        self.rollsBack = rollsBack
        self.graph = graph
    }

    /// Checks the graph that `specs` declare.
    /// - Throws: `DependencyGraphError` with everything that is wrong with it.
    public init(_ specs: [ServiceSpec], rollsBack: Bool = false) throws(DependencyGraphError) {
        try self.init(sharing: specs.map { Shared(wrappedValue: $0) }, rollsBack: rollsBack)
    }

    /// The same, for specs that somebody else holds too.
    public init(
        sharing specs: [Shared<ServiceSpec>], rollsBack: Bool = false
    ) throws(DependencyGraphError) {
        graph = try DependencyGraph(specs.map(\.wrappedValue))
        shared = specs
        self.rollsBack = rollsBack
    }
}

/// What a plan does to one service.
public struct PlanChange: Hashable, Sendable {
    /// The service.
    public let service: ServiceName
    /// What happens to it.
    public let kind: Kind

    /// What a plan does to a service.
    public enum Kind: Hashable, Sendable {
        /// It joins the project.
        case added
        /// It is stopped and leaves.
        case removed
        /// Its definition changed: it is stopped and launched anew.
        case changed
        /// Something it needs is launched anew, and so is it.
        case relaunched(because: ServiceName)
        /// Its policies or needs changed; its process stays.
        case updated
    }
}

/// A plan being carried out.
struct PlanInFlight: Hashable, Sendable {
    /// The services as they were.
    let previous: Plan
    /// Services the plan adds, launches anew or removes, and that have not settled or left yet.
    var touched: Set<Int>
    /// The plan is to be undone.
    let rollsBack: Bool
    /// A touched service that failed to start.
    var failed: Int?
}

extension LifecycleMachine {
    /// What a plan would do, in the order of the plan, removals last. Services it leaves alone are
    /// not listed.
    public func changes(_ plan: Plan) -> [PlanChange] {
        let relaunched = relaunches(plan)
        var changes: [PlanChange] = []
        let specs = plan.specs
        for (number, spec) in specs.enumerated() {
            if let slot = presentSlot(spec.name) {
                if let source = relaunched[number] {
                    let kind: PlanChange.Kind =
                        source == number ? .changed : .relaunched(because: specs[source].name)
                    changes.append(PlanChange(service: spec.name, kind: kind))
                } else if nodes[slot].spec != spec {
                    changes.append(PlanChange(service: spec.name, kind: .updated))
                }
            } else {
                changes.append(PlanChange(service: spec.name, kind: .added))
            }
        }
        let kept = Set(specs.map(\.name))
        for slot in nodes.indices where isPresent(slot) && !kept.contains(nodes[slot].spec.name) {
            changes.append(PlanChange(service: nodes[slot].spec.name, kind: .removed))
        }
        return changes
    }

    private func presentSlot(_ name: ServiceName) -> Int? {
        slotOfName[name].flatMap { isPresent($0) ? $0 : nil }
    }

    /// For each service of the plan that is launched anew, the changed service that is the reason.
    private func relaunches(_ plan: Plan) -> [Int: Int] {
        var source: [Int: Int] = [:]
        let specs = plan.specs
        for number in plan.graph.startOrder {
            if let slot = presentSlot(specs[number].name),
                nodes[slot].spec.launchDigest != specs[number].launchDigest
                    || nodes[slot].spec.kind != specs[number].kind
            {
                source[number] = number
                continue
            }
            for (index, need) in plan.graph.needs[number].enumerated()
            where specs[number].needs[index].isRequired {
                if source[number] == nil, let reason = source[need] { source[number] = reason }
            }
        }
        return source
    }

    mutating func execute(_ plan: Plan, _ turn: inout Turn) {
        let changes = changes(plan)
        let previous = current
        current = plan
        report(
            .planStarted(
                added: changes.count { $0.kind == .added },
                changed: changes.count { $0.kind != .added && $0.kind != .removed },
                removed: changes.count { $0.kind == .removed }), nil, &turn)
        let decision = turn.cause
        let slots = place(plan)
        rewire(plan, slots)
        var touched: Set<Int> = []
        for change in changes {
            guard let slot = slotOfName[change.service] else { continue }
            turn.cause = decision
            switch change.kind {
            case .removed:
                touched.insert(slot)
                requestStop(slot, .plan, then: .forget, &turn)
            case .changed, .relaunched:
                touched.insert(slot)
                relaunch(slot, isChanged: change.kind == .changed, &turn)
            case .added:
                touched.insert(slot)
            case .updated: break
            }
        }
        reviseOwners(added: changes, decision, &turn)
        for slot in nodes.indices {
            guard case .waiting(let blockers) = nodes[slot].state,
                unmetNeeds(of: slot) != blockers
            else { continue }
            turn.cause = decision
            enterWaiting(slot, &turn)
        }
        planInFlight = PlanInFlight(
            previous: previous, touched: touched, rollsBack: plan.rollsBack, failed: nil)
    }

    /// Gives every service of the plan its slot and its new spec. One that is still leaving under
    /// the same name comes back: two incarnations of a service never live at once.
    private mutating func place(_ plan: Plan) -> [Int] {
        plan.shared.map { spec in
            guard let slot = slotOfName[spec.wrappedValue.name] else { return addNode(spec) }
            nodes[slot].share(spec)
            switch nodes[slot].state {
            case .stopping(let life, var stop) where stop.then == .forget:
                stop.then = .end(.stopped)
                nodes[slot].state = .stopping(life, stop)
            case .abandoned(let life, .forget):
                nodes[slot].state = .abandoned(life, .end(.stopped))
            case .waiting, .starting, .up, .stopping, .backingOff, .abandoned, .ended: break
            }
            return slot
        }
    }

    /// Lays the edges of the plan. What leaves keeps its own needs, so that it still stops in
    /// order.
    private mutating func rewire(_ plan: Plan, _ slots: [Int]) {
        let planned = Set(slots)
        for slot in nodes.indices {
            nodes[slot].dependents.removeAll { planned.contains($0.slot) }
        }
        connect(plan.graph, slots: slots)
        for slot in nodes.indices {
            nodes[slot].liveDependents = 0
            nodes[slot].liveRequiredDependents = 0
        }
        for slot in nodes.indices where nodes[slot].state.holdsItsNeeds {
            for (index, need) in nodes[slot].needs.enumerated() {
                nodes[need].liveDependents += 1
                if nodes[slot].spec.needs[index].isRequired {
                    nodes[need].liveRequiredDependents += 1
                }
            }
        }
        for slot in nodes.indices { stops.noteFreed(slot, nodes[slot]) }
    }

    private mutating func relaunch(_ slot: Int, isChanged: Bool, _ turn: inout Turn) {
        if isChanged { nodes[slot].ledger.reset() }
        switch nodes[slot].state {
        case .ended(.neverStarted), .ended(.held), .ended(.stopped): break
        case .ended(.completed), .ended(.exited), .ended(.failed), .ended(.gaveUp):
            if isChanged { enterWaiting(slot, &turn) }
        case .waiting: break  // It looks at its new needs below.
        case .backingOff, .starting, .up, .stopping, .abandoned:
            requestStop(slot, .plan, then: .again(delayed: false), &turn)
        }
    }

    /// Counts owners anew over the new edges; starts what came to be wanted and stops what nobody
    /// wants.
    private mutating func reviseOwners(
        added changes: [PlanChange], _ decision: DecisionID?, _ turn: inout Turn
    ) {
        let before = nodes.map(\.isWanted)
        var owners = nodes.map { Node.Owners(user: $0.owners.user, dependents: 0) }
        for change in changes {
            guard let slot = slotOfName[change.service] else { continue }
            switch change.kind {
            case .added: owners[slot].user = wantsAll && nodes[slot].spec.startsAutomatically
            case .removed: owners[slot].user = false
            case .changed, .relaunched, .updated: break
            }
        }
        // Dependents before what they need: deepest first.
        for slot in nodes.indices.sorted(by: { nodes[$0].depth > nodes[$1].depth })
        where !owners[slot].isEmpty && !nodes[slot].state.isLeaving {
            for need in nodes[slot].needs { owners[need].dependents += 1 }
        }
        for slot in nodes.indices { _ = setOwners(slot, owners[slot]) }
        var woken: [Int] = []
        for slot in nodes.indices where nodes[slot].isWanted != before[slot] {
            turn.cause = decision
            if nodes[slot].isWanted {
                woken.append(slot)
            } else if !nodes[slot].state.isLeaving {
                requestStop(slot, .unwanted, then: .end(.stopped), &turn)
            }
        }
        let user = woken.filter { nodes[$0].owners.user }
        if !user.isEmpty { want(user, named: false, &turn) }
        let needed = woken.filter { !nodes[$0].owners.user }
        for slot in needed {
            turn.cause = decision
            if case .ended(let reason) = nodes[slot].state, reason != .completed {
                enterWaiting(slot, &turn)
            }
        }
    }

    /// The service is gone from the project.
    mutating func forget(_ slot: Int, _ turn: inout Turn) {
        if nodes[slot].state.incarnation != nil || nodes[slot].state.isActive {
            setState(slot, .ended(.stopped), &turn)
        }
        _ = setOwners(slot, Node.Owners())
        report(.forgotten, slot, &turn)
        perform(.forget(nodes[slot].id), &turn)
        for need in nodes[slot].needs { nodes[need].dependents.removeAll { $0.slot == slot } }
        for dependent in nodes[slot].dependents { dropNeeds(of: dependent.slot, on: slot) }
        nodes[slot].needs = []
        nodes[slot].spec.needs = []
        nodes[slot].dependents = []
        nodes[slot].liveDependents = 0
        nodes[slot].liveRequiredDependents = 0
        if slotOfName[nodes[slot].spec.name] == slot { slotOfName[nodes[slot].spec.name] = nil }
        freeSlots.append(slot)
        planInFlight?.touched.remove(slot)
    }

    /// A leaving service outlives what it needed: the edge goes.
    private mutating func dropNeeds(of slot: Int, on gone: Int) {
        guard let index = nodes[slot].needs.firstIndex(of: gone) else { return }
        nodes[slot].needs.remove(at: index)
        nodes[slot].spec.needs.remove(at: index)
        for (position, need) in nodes[slot].needs.enumerated() where position >= index {
            nodes[need].dependents.removeAll { $0.slot == slot }
            nodes[need].dependents.append(Node.Dependent(slot: slot, need: position))
        }
    }

    // MARK: The end of a plan

    mutating func planFailed(_ slot: Int, _ turn: inout Turn) {
        guard let plan = planInFlight, plan.rollsBack, plan.touched.contains(slot) else { return }
        planInFlight?.failed = slot
    }

    /// Whether the plan was rolled back: stops may be due.
    mutating func settlePlan(_ turn: inout Turn) -> Bool {
        guard var plan = planInFlight else { return false }
        if let failed = plan.failed {
            planInFlight = nil
            report(.planRolledBack(nodes[failed].id), failed, &turn)
            execute(plan.previous.withoutRollback, &turn)
            return true
        }
        plan.touched = plan.touched.filter { slot in
            let state = nodes[slot].state
            if state.isLeaving { return state.isActive }
            return nodes[slot].isWanted && !state.isSettled && movesByItself(slot)
        }
        planInFlight = plan
        guard plan.touched.isEmpty else { return false }
        planInFlight = nil
        report(.planSettled, nil, &turn)
        return false
    }

    /// Whether the service, or something it waits for, is on its way. What waits for a service that
    /// is held, or that failed, is not: a plan does not wait for the user.
    private func movesByItself(_ slot: Int) -> Bool {
        let concerned = closure(of: [slot]) { next in
            guard case .waiting(let blockers) = nodes[next].state else { return [] }
            return blockers.needs.map { nodes[next].needs[$0] }
        }
        return concerned.contains { next in
            switch nodes[next].state {
            case .starting, .up, .stopping, .backingOff: true
            case .waiting, .abandoned, .ended: false
            }
        }
    }
}
