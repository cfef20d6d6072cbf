import Stoic

/// What is judged when a stop begins, when a launch is asked for, and between events.
extension InvariantChecker {
    // MARK: The order of stops

    private func isAbandoned(_ slot: Int, _ machine: LifecycleMachine) -> Bool {
        guard case .abandoned = machine.nodes[slot].state else { return false }
        return true
    }

    /// The services alive that stand in the way of stopping `slot`: when the project ends every one
    /// that lists it, else those that require it.
    private func livingDependents(of slot: Int, _ machine: LifecycleMachine) -> Int? {
        let name = machine.nodes[slot].spec.name
        return seats.indices.first { other in
            guard seats[other].isAlive, !isAbandoned(other, machine) else { return false }
            return machine.nodes[other].spec.needs.contains {
                $0.service == name && ($0.isRequired || machine.isEnding)
            }
        }
    }

    /// The stop of `slot` begins in its turn: nothing alive needs it; no service that was not ready
    /// waits; and it is the one that became ready last of those that could be next.
    mutating func judgeTurn(of slot: Int, _ machine: LifecycleMachine) {
        guard !machine.wasForced else { return }
        if let other = livingDependents(of: slot, machine) {
            violate(turn(slot, "while", other, "needs it and lives", machine))
        }
        guard seats[slot].askedWhileReady, !machine.settings.stopsInParallel else { return }
        for (other, seat) in seats.enumerated() where other != slot && seat.isAlive {
            guard let asked = seat.asked, asked.keepsOrder, !isAbandoned(other, machine) else {
                continue
            }
            if seat.facts.contains(.told) {
                if !seat.facts.contains(.cleaned), seat.main == .running {
                    violate(turn(slot, "while", other, "still stops", machine))
                }
            } else if seat.main != .exited, livingDependents(of: other, machine) == nil,
                machine.nodes[other].state.isQueued,
                !seat.askedWhileReady || seat.readyAt > seats[slot].readyAt
            {
                violate(turn(slot, "before", other, "had its turn", machine))
            }
        }
    }

    private func turn(
        _ slot: Int, _ when: String, _ other: Int, _ what: String, _ machine: LifecycleMachine
    ) -> String {
        "\(name(slot, machine)) was told to stop \(when) \(name(other, machine)) \(what)"
    }

    // MARK: Launches

    /// No launch while a blocker stands.
    mutating func judgeNeeds(_ slot: Int, _ machine: LifecycleMachine) {
        for need in machine.nodes[slot].spec.needs {
            guard let target = machine.slotOfName[need.service] else { continue }
            let seat = seats[target]
            let isOffered =
                switch need.condition {
                case .ready: seat.facts.contains(.ready) || seat.isCompleted
                case .started: seat.main == .running || seat.isCompleted
                case .completed: seat.isCompleted || machine.nodes[target].state.isSettled
                }
            if isOffered, seat.asked == nil { continue }
            if !need.isRequired, case .ended = machine.nodes[target].state { continue }
            violate("\(name(slot, machine)) was launched though \(need.service) was not met")
        }
    }

    // MARK: Between events

    mutating func judgeState(_ machine: LifecycleMachine) {
        var tally = LifecycleMachine.Tally()
        for slot in machine.nodes.indices {
            judgeSeat(slot, machine)
            Self.count(slot, machine, &tally)
        }
        if tally != machine.tally { violate("a tally is off: \(machine.tally)") }
        if machine.isEnding, !isOver, !hasBudgetTimer, !machine.wasForced, tally.active > 0,
            seats.allSatisfy({ !$0.isAlive || $0.facts.contains(.killed) || $0.main == .pending })
                == false
        {
            violate("the project's stop is unbounded")
        }
    }

    private static func count(
        _ slot: Int, _ machine: LifecycleMachine, _ tally: inout LifecycleMachine.Tally
    ) {
        let state = machine.nodes[slot].state
        if machine.nodes[slot].isWanted {
            tally.wanted += 1
            if !state.isSettled { tally.unsettled += 1 }
            if !state.isOver { tally.living += 1 }
        }
        if state.isActive { tally.active += 1 }
    }

    private mutating func judgeSeat(_ slot: Int, _ machine: LifecycleMachine) {
        let seat = seats[slot]
        if seat.life != machine.nodes[slot].state.incarnation {
            violate(
                "\(name(slot, machine)) is \(machine.nodes[slot].state), its process is \(seat)")
        }
        if seat.life != nil, !seat.isAlive { violate("\(name(slot, machine)) was not released") }
        judgeTimers(slot, machine)
        judgeCounters(slot, machine)
    }

    /// Each state has the timers that bound it, and no others.
    private mutating func judgeTimers(_ slot: Int, _ machine: LifecycleMachine) {
        let timers = seats[slot].timers
        let state = machine.nodes[slot].state
        var needed = TimerSet()
        var allowed = TimerSet()
        switch state {
        case .waiting(let blockers):
            if blockers.isEmpty { violate("\(name(slot, machine)) waits for nothing") }
            judgeBlockers(slot, blockers, machine)
        case .starting: needed = .start
        case .up(_, let health):
            switch health {
            case .ready: allowed = [.watchdog, .healthy]
            case .notReady: allowed = [.watchdog, .probes]
            case .completed: break
            }
            if health == .ready, machine.nodes[slot].spec.liveThreshold != nil { needed = .probes }
        case .backingOff: needed = .backoff
        case .stopping(_, let stop):
            (needed, allowed) = stopTimers(stop)
            if stop.rung.isQueued, machine.holders(of: machine.nodes[slot].id).isEmpty {
                violate("\(name(slot, machine)) is queued for nothing")
            }
        case .abandoned(_, let then): if then == .again(delayed: true) { needed = .backoff }
        case .ended: break
        }
        if !timers.isSuperset(of: needed) {
            violate("\(name(slot, machine)) is \(state) without its timers")
        }
        if !timers.subtracting(needed).isSubset(of: allowed) {
            violate("\(name(slot, machine)) is \(state) with the timers \(timers)")
        }
    }

    /// What a service waits for is not met, and what is not met it waits for. A need that is to
    /// stop may count as either: it still is of use, and soon is not.
    private mutating func judgeBlockers(
        _ slot: Int, _ blockers: Blockers, _ machine: LifecycleMachine
    ) {
        for (index, need) in machine.nodes[slot].spec.needs.enumerated() {
            let target = machine.nodes[machine.nodes[slot].needs[index]].state
            if target.isQueued { continue }
            if target.offers.meets(need) == blockers.needs.contains(index) {
                violate("\(name(slot, machine)) is wrong about its need \(index)")
            }
        }
    }

    private func stopTimers(_ stop: Stop) -> (TimerSet, TimerSet) {
        let backoff = stop.then == .again(delayed: true) ? TimerSet.backoff : TimerSet()
        switch stop.rung {
        case .queued: return (backoff, TimerSet())
        case .messageSent: return (backoff.union(.kill), .rung)
        case .acted: return (backoff.union(.kill), .rung)
        case .awaitingLaunch, .cleaning: return (backoff.union(.kill), TimerSet())
        case .killed: return (backoff.union(.abandon), TimerSet())
        }
    }

    /// Counters are worth what counting anew gives.
    private mutating func judgeCounters(_ slot: Int, _ machine: LifecycleMachine) {
        var living = 0
        var required = 0
        var owners = 0
        for dependent in machine.nodes[slot].dependents {
            // Copying a whole node costs more than all that is asked of it here.
            let other = dependent.slot
            if machine.nodes[other].needs[dependent.need] != slot {
                violate("an edge to \(name(slot, machine)) is off")
            }
            if machine.nodes[other].isWanted, !machine.nodes[other].state.isLeaving { owners += 1 }
            guard machine.nodes[other].state.holdsItsNeeds else { continue }
            living += 1
            if machine.nodes[other].spec.needs[dependent.need].isRequired { required += 1 }
        }
        if living != machine.nodes[slot].liveDependents {
            violate("dependents of \(name(slot, machine)) are off")
        }
        if required != machine.nodes[slot].liveRequiredDependents {
            violate("required dependents of \(name(slot, machine)) are off")
        }
        if owners != machine.nodes[slot].owners.dependents {
            violate("owners of \(name(slot, machine)) are off")
        }
    }
}

extension ServiceStopCause {
    /// Whether it is a stop that keeps its place in the order: one of a failure, or one that the
    /// service comes back from at once, does not.
    var keepsOrder: Bool {
        switch self {
        case .project, .requested, .needStops, .unwanted, .plan: true
        case .needLost, .restart, .failure, .finished, .completed: false
        }
    }
}
