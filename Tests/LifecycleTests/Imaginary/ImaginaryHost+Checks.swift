@testable import Stoic

/// The invariants, judged by the host's own facts.
extension ImaginaryHost {
    /// Decisions are numbered without gaps, and each but the first of a turn follows from an
    /// earlier one.
    mutating func checkDecisions(_ decisions: [LifecycleDecision]) {
        if decisions.isEmpty { violate("an event led to no decision") }
        for (index, decision) in decisions.enumerated() {
            if decision.id.number != lastDecision + 1 { violate("a decision is missing") }
            lastDecision = decision.id.number
            if let cause = decision.cause {
                if cause >= decision.id { violate("a decision follows from a later one") }
            } else if index > 0 {
                violate("\(decision.what.name) has no cause")
            }
            note(decision)
        }
    }

    private mutating func note(_ decision: LifecycleDecision) {
        switch decision.what {
        case .defect(let words): violate("defect: \(words)")
        case .stopRequested(let cause):
            guard let slot = decision.service?.slot else { return }
            seats[slot].asked = cause
            seats[slot].askedWhileReady = seats[slot].readyAt > 0 || seats[slot].isCompleted
        case .stopping(let cause, _):
            guard let slot = decision.service?.slot, cause.keepsOrder else { return }
            checkTurn(of: slot)
        default: break
        }
    }

    // MARK: The order of stops

    private func isAbandoned(_ slot: Int) -> Bool {
        guard case .abandoned = machine.nodes[slot].state else { return false }
        return true
    }

    /// The services alive that stand in the way of stopping `slot`: when the project ends every one
    /// that lists it, else those that require it.
    private func livingDependents(of slot: Int) -> Int? {
        let name = machine.nodes[slot].spec.name
        return seats.indices.first { other in
            guard seats[other].isAlive, !isAbandoned(other) else { return false }
            return machine.nodes[other].spec.needs.contains {
                $0.service == name && ($0.isRequired || machine.isEnding)
            }
        }
    }

    /// The stop of `slot` begins in its turn: nothing alive needs it; no service that was not ready
    /// waits; and it is the one that became ready last of those that could be next.
    private mutating func checkTurn(of slot: Int) {
        guard !machine.wasForced else { return }
        if let other = livingDependents(of: slot) {
            violate("\(slot) was told to stop while \(other), which needs it, lives")
        }
        guard seats[slot].askedWhileReady, !machine.settings.stopsInParallel else { return }
        for (other, seat) in seats.enumerated() where other != slot && seat.isAlive {
            guard let asked = seat.asked, asked.keepsOrder, !isAbandoned(other) else { continue }
            if seat.facts.contains(.told) {
                if !seat.facts.contains(.cleaned), seat.main == .running {
                    violate("\(slot) was told to stop while \(other) still stops")
                }
            } else if seat.main != .exited, livingDependents(of: other) == nil,
                machine.nodes[other].state.isQueued,
                !seat.askedWhileReady || seat.readyAt > seats[slot].readyAt
            {
                violate("\(slot) was told to stop before \(other), whose turn it was")
            }
        }
    }

    // MARK: Launches

    /// No launch while a blocker stands.
    mutating func checkNeeds(_ slot: Int) {
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
            violate("\(slot) was launched though \(need.service) was not met")
        }
    }

    // MARK: Between events

    mutating func checkState() {
        var tally = LifecycleMachine.Tally()
        for slot in machine.nodes.indices {
            checkSeat(slot)
            count(slot, &tally)
        }
        if tally != machine.tally { violate("a tally is off: \(machine.tally)") }
        if machine.isEnding, !isOver, !hasBudgetTimer, !machine.wasForced, tally.active > 0,
            seats.allSatisfy({ !$0.isAlive || $0.facts.contains(.killed) || $0.main == .pending })
                == false
        {
            violate("the project's stop is unbounded")
        }
    }

    private func count(_ slot: Int, _ tally: inout LifecycleMachine.Tally) {
        let state = machine.nodes[slot].state
        if machine.nodes[slot].isWanted {
            tally.wanted += 1
            if !state.isSettled { tally.unsettled += 1 }
            if !state.isOver { tally.living += 1 }
        }
        if state.isActive { tally.active += 1 }
    }

    private mutating func checkSeat(_ slot: Int) {
        let seat = seats[slot]
        if seat.life != machine.nodes[slot].state.incarnation {
            violate("\(slot) is \(machine.nodes[slot].state), its process is \(seat)")
        }
        if seat.life != nil, !seat.isAlive { violate("\(slot) was not released") }
        checkTimers(slot, seat.timers)
        checkCounters(slot)
    }

    /// Each state has the timers that bound it, and no others.
    private mutating func checkTimers(_ slot: Int, _ timers: TimerSet) {
        let state = machine.nodes[slot].state
        var needed = TimerSet()
        var allowed = TimerSet()
        switch state {
        case .waiting(let blockers):
            if blockers.isEmpty { violate("\(slot) waits for nothing") }
            checkBlockers(slot, blockers)
        case .starting: needed = .start
        case .up: allowed = .whileUp
        case .backingOff: needed = .backoff
        case .stopping(_, let stop):
            (needed, allowed) = stopTimers(stop)
            if stop.rung.isQueued, machine.holders(of: machine.nodes[slot].id).isEmpty {
                violate("\(slot) is queued for nothing")
            }
        case .abandoned(_, let then): if then == .again(delayed: true) { needed = .backoff }
        case .ended: break
        }
        if !timers.isSuperset(of: needed) { violate("\(slot) is \(state) without its timers") }
        if !timers.subtracting(needed).isSubset(of: allowed) {
            violate("\(slot) is \(state) with the timers \(timers)")
        }
    }

    /// What a service waits for is not met, and what is not met it waits for. A need that is to
    /// stop may count as either: it still is of use, and soon is not.
    private mutating func checkBlockers(_ slot: Int, _ blockers: Blockers) {
        for (index, need) in machine.nodes[slot].spec.needs.enumerated() {
            let target = machine.nodes[machine.nodes[slot].needs[index]].state
            if target.isQueued { continue }
            if target.offers.meets(need) == blockers.needs.contains(index) {
                violate("\(slot) is wrong about its need \(index)")
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
    private mutating func checkCounters(_ slot: Int) {
        var living = 0
        var required = 0
        var owners = 0
        for dependent in machine.nodes[slot].dependents {
            // Copying a whole node costs more than all that is asked of it here.
            let other = dependent.slot
            if machine.nodes[other].needs[dependent.need] != slot {
                violate("an edge to \(slot) is off")
            }
            if machine.nodes[other].isWanted, !machine.nodes[other].state.isLeaving { owners += 1 }
            guard machine.nodes[other].state.holdsItsNeeds else { continue }
            living += 1
            if machine.nodes[other].spec.needs[dependent.need].isRequired { required += 1 }
        }
        if living != machine.nodes[slot].liveDependents { violate("dependents of \(slot) are off") }
        if required != machine.nodes[slot].liveRequiredDependents {
            violate("required dependents of \(slot) are off")
        }
        if owners != machine.nodes[slot].owners.dependents { violate("owners of \(slot) are off") }
    }
}

extension ServiceStopCause {
    /// Whether it is a stop that keeps its place in the order: one of a failure, or one that the
    /// service comes back from at once, does not.
    var keepsOrder: Bool {
        switch self {
        case .project, .requested, .needStops, .unwanted, .plan: true
        case .needLost, .restart, .failure, .finished, .completed, .forced: false
        }
    }
}
