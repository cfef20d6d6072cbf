/// What others may know of the brain. Reading changes nothing.
extension LifecycleMachine {
    /// The services of the project, those that are leaving included.
    public var services: [ServiceID] {
        nodes.indices.compactMap { slotOfName[nodes[$0].spec.name] == $0 ? nodes[$0].id : nil }
    }

    /// The service of this name.
    public func service(named name: ServiceName) -> ServiceID? {
        slotOfName[name].map { nodes[$0].id }
    }

    /// The service this incarnation is one of, while it lives.
    public func service(of life: Incarnation) -> ServiceID? {
        slotOfIncarnation[life].map { nodes[$0].id }
    }

    /// Whether this is a service of the project, or one that is leaving it: its name may belong to
    /// another one by now.
    public func has(_ id: ServiceID) -> Bool { slot(of: id) != nil }

    /// The rules of a service, as they hold now.
    public func spec(of id: ServiceID) -> ServiceSpec { nodes[id.slot].spec }

    /// The state of a service.
    public func state(of id: ServiceID) -> ServiceState { nodes[id.slot].state }

    /// Whether anybody wants the service.
    public func isWanted(_ id: ServiceID) -> Bool { nodes[id.slot].isWanted }

    /// Launches that would count against the service's delays now: 0 when it is healthy.
    public func restartStep(of id: ServiceID) -> Int { nodes[id.slot].ledger.step }

    /// The latest decision about a service.
    public func latestDecision(about id: ServiceID) -> DecisionID? {
        nodes[id.slot].lastDecision
    }

    /// What keeps a waiting service from being launched: each need, and the state it is in.
    public func blockers(of id: ServiceID) -> [(need: Need, service: ServiceID, ServiceState)] {
        guard case .waiting(let blockers) = nodes[id.slot].state else { return [] }
        return blockers.needs.map { index in
            let target = nodes[id.slot].needs[index]
            return (nodes[id.slot].spec.needs[index], nodes[target].id, nodes[target].state)
        }
    }

    /// What a queued service waits for: the services alive that need it; when none is, the stops
    /// that run now.
    public func holders(of id: ServiceID) -> [ServiceID] {
        guard nodes[id.slot].state.isQueued else { return [] }
        let alive = nodes[id.slot].dependents.filter { nodes[$0.slot].state.holdsItsNeeds }
        let slots = alive.isEmpty ? Array(stops.running) : alive.map(\.slot)
        return slots.sorted().map { nodes[$0].id }
    }

    /// Wanted services that are neither ready nor completed.
    public var unsettledServices: [ServiceID] {
        nodes.indices.filter { nodes[$0].isWanted && !nodes[$0].state.isSettled }
            .map { nodes[$0].id }
    }
}

extension LifecycleMachine {
    /// Whether every service the latest plan touched has settled.
    public var isPlanSettled: Bool { planInFlight == nil }

    /// Whether the ladder was skipped for everything.
    public var isForced: Bool { wasForced }
}
