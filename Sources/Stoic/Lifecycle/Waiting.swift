/// A service without a process: waiting for its needs, or for its delay.
extension LifecycleMachine {
    /// Comes to wait for what stands in the way of a launch, and launches when nothing does.
    mutating func enterWaiting(_ slot: Int, _ turn: inout Turn) {
        guard !isEnding, nodes[slot].isWanted else {
            let reason = EndReason.stopped
            setState(slot, .ended(reason), &turn)
            report(.stopped(.end(reason)), slot, &turn)
            return
        }
        let blockers = unmetNeeds(of: slot)
        setState(slot, .waiting(blockers), &turn)
        if blockers.isEmpty {
            turn.launchLater(slot)
        } else {
            report(.waiting(needs: blockers.needs.count), slot, &turn)
        }
    }

    mutating func whileWaiting(
        _ slot: Int, _ before: Blockers, _ event: NeedEvent, _ turn: inout Turn
    ) {
        var blockers = before
        switch event.fact {
        case .met: blockers.remove(event.need)
        case .lost: blockers.insert(event.need)
        }
        setState(slot, .waiting(blockers), &turn)
        if blockers.isEmpty { turn.launchLater(slot) }
    }

    /// Launches come last in a turn: what one event leads to may put something new in the way of a
    /// service that had nothing left in its way, and what was looked at before is looked up anew.
    mutating func launchDue(_ turn: inout Turn) {
        for (slot, cause) in turn.takeLaunches() {
            guard case .waiting(let known) = nodes[slot].state, known.isEmpty else { continue }
            turn.cause = cause
            let blockers = unmetNeeds(of: slot)
            if blockers.isEmpty {
                launch(slot, &turn)
            } else {
                setState(slot, .waiting(blockers), &turn)
                report(.waiting(needs: blockers.needs.count), slot, &turn)
            }
        }
    }

    private mutating func launch(_ slot: Int, _ turn: inout Turn) {
        history.incarnations += 1
        let life = Incarnation(history.incarnations)
        let spec = nodes[slot].spec
        nodes[slot].facts = Node.IncarnationFacts()
        nodes[slot].ledger.noteLaunch()
        nodes[slot].moments.launched = turn.now.awake
        setState(slot, .starting(life, .launching), &turn)
        report(.launching, slot, &turn)
        perform(.launch(nodes[slot].id, life), &turn)
        arm(.start(life), after: spec.startTimeout, &turn)
    }

    /// Whether the project ends: nothing starts any more.
    package var isEnding: Bool {
        switch phase {
        case .stopping, .ended: true
        case .idle, .comingUp, .settled: false
        }
    }

    /// A oneshot that runs again with its needs: one of them was lost and is met again.
    mutating func whileCompleted(_ slot: Int, _ event: NeedEvent, _ turn: inout Turn) {
        guard case .oneshot(rerunsWithNeeds: true, _) = nodes[slot].spec.kind, event.fact == .met,
            nodes[slot].isWanted
        else { return }
        enterWaiting(slot, &turn)
    }
}
