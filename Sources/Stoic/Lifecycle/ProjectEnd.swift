/// The end of the project, and what is judged over all services together.
extension LifecycleMachine {
    /// Signals this close to the begin of a stop are the same request: `timeout` and `npm` send
    /// two.
    static let sameRequest = Duration.milliseconds(500)

    mutating func requestProjectStop(_ cause: StopCause, _ turn: inout Turn) {
        guard isEnding else { return stopProject(cause, &turn) }
        guard case .signal(let number) = cause, case .stopping = phase else {
            report(.noted, nil, &turn)
            return
        }
        let began = history.stopBegan ?? .zero
        if turn.now.awake - began < Self.sameRequest {
            report(.noted, nil, &turn)
        } else {
            force(by: "signal \(number)", &turn)
        }
    }

    /// No service starts from here on; everything stops, in order, within the budget.
    mutating func stopProject(_ cause: StopCause, _ turn: inout Turn) {
        guard !isEnding else { return }
        phase = .stopping(cause)
        planInFlight = nil
        history.stopBegan = turn.now.awake
        history.budgetEnd = turn.now.awake.saturatingSum(settings.exitBudget)
        report(.projectStopping(cause), nil, &turn)
        arm(.exitBudget, after: settings.exitBudget, &turn)
        let decision = turn.cause
        for slot in nodes.indices {
            turn.cause = decision
            requestStop(slot, .project, then: .end(.stopped), &turn)
        }
        // Each share counts the stops after it, so they are all known first.
        for slot in nodes.indices { fitIntoBudget(slot, &turn) }
        turn.cause = decision
    }

    /// A stop that began before the project's own has to fit the budget too.
    private mutating func fitIntoBudget(_ slot: Int, _ turn: inout Turn) {
        guard case .stopping(let life, let stop) = nodes[slot].state else { return }
        switch stop.rung {
        case .queued, .killed: return
        case .awaitingLaunch, .messageSent, .acted, .cleaning: break
        }
        let limits = stopSlot(slot, turn)
        guard turn.now.awake.saturatingSum(limits.beforeKill) < nodes[slot].moments.kill else {
            return
        }
        note(limits, slot, turn)
        arm(.kill(life), after: limits.beforeKill, &turn)
    }

    /// Skips the ladder for everything. A second time it changes nothing.
    mutating func force(by requester: String, _ turn: inout Turn) {
        guard !wasForced else {
            report(.noted, nil, &turn)
            return
        }
        wasForced = true
        stopProject(.requested(requester), &turn)
        report(.forced(requester), nil, &turn)
        killEverything(&turn)
    }

    mutating func exitBudgetPassed(_ turn: inout Turn) {
        guard case .stopping = phase else {
            report(.stale, nil, &turn)
            return
        }
        report(.budgetExceeded, nil, &turn)
        killEverything(&turn)
    }

    private mutating func killEverything(_ turn: inout Turn) {
        let decision = turn.cause
        for slot in nodes.indices {
            turn.cause = decision
            switch nodes[slot].state {
            case .stopping(let life, let stop) where stop.rung == .killed:
                arm(.abandon(life), after: lastKillWait(turn), &turn)
            case .stopping(let life, let stop):
                if stop.rung.isQueued { stops.leave(slot) }
                kill(slot, life, stop, wait: lastKillWait(turn), &turn)
            case .abandoned(let life, _): perform(.kill(life), &turn)
            case .waiting, .starting, .up, .backingOff, .ended: break
            }
        }
    }

    /// A service has ended. An essential one that did so by itself takes the project with it.
    mutating func noteEnded(_ slot: Int, _ reason: EndReason, _ turn: inout Turn) {
        guard nodes[slot].spec.isEssential, !reason.isAskedFor, !isEnding else { return }
        stopProject(.essentialEnded(nodes[slot].id), &turn)
    }

    /// Whether the project has come up, or has ended.
    mutating func settleProject(_ turn: inout Turn) {
        switch phase {
        case .idle, .ended: return
        case .comingUp, .settled:
            if phase == .comingUp, tally.wanted > 0, tally.unsettled == 0 {
                phase = .settled
                report(.projectUp, nil, &turn)
            }
            if tally.living == 0, tally.active == 0 {
                stopProject(.allEnded, &turn)
                endProject(.allEnded, &turn)
            }
        case .stopping(let cause):
            if tally.active == 0 { endProject(cause, &turn) }
        }
    }

    private mutating func endProject(_ cause: StopCause, _ turn: inout Turn) {
        phase = .ended(cause)
        report(.projectEnded(cause), nil, &turn)
        perform(.disarm(.exitBudget), &turn)
        perform(.endProject(outcome(cause)), &turn)
    }

    private func outcome(_ cause: StopCause) -> ProjectOutcome {
        var outcome = ProjectOutcome(
            cause: cause, failed: [], abandoned: [], wasForced: wasForced, essentialStatus: nil)
        for node in nodes {
            switch node.state {
            case .ended(let reason): if reason.isFailure { outcome.failed.append(node.id) }
            case .abandoned: outcome.abandoned.append(node.id)
            case .waiting, .starting, .up, .stopping, .backingOff: break
            }
        }
        if case .essentialEnded(let id) = cause, case .ended(let reason) = nodes[id.slot].state {
            outcome.essentialStatus = reason.status
        }
        return outcome
    }

    /// We stood still ourselves: what judges a child is put off by as much.
    mutating func forgive(_ pause: Duration, _ turn: inout Turn) {
        turn.cause = nil
        guard pause > .zero else {
            report(.noted, nil, &turn)
            return
        }
        report(.paused(pause), nil, &turn)
        for slot in nodes.indices {
            guard let life = nodes[slot].state.incarnation else { continue }
            nodes[slot].moments.kill = nodes[slot].moments.kill.saturatingSum(pause)
            nodes[slot].moments.launched = nodes[slot].moments.launched.saturatingSum(pause)
            for timer in nodes[slot].state.judgingTimers(of: life) {
                perform(.postpone(timer, by: pause), &turn)
            }
        }
        guard let end = history.budgetEnd, isEnding else { return }
        history.budgetEnd = end.saturatingSum(pause)
        perform(.postpone(.exitBudget, by: pause), &turn)
    }
}

extension ServiceState {
    /// The timers that may be armed in this state and judge the incarnation.
    fileprivate func judgingTimers(of life: Incarnation) -> [TimerID] {
        switch self {
        case .starting: [.start(life)]
        case .up: [.watchdog(life)]
        case .stopping: [.rung(life), .kill(life), .abandon(life)]
        case .waiting, .backingOff, .abandoned, .ended: []
        }
    }
}

extension EndReason {
    /// How the main process ended, where it did so by itself.
    public var status: ExitStatus? {
        switch self {
        case .exited(let status): status
        case .failed(let failure), .gaveUp(let failure, _): failure.status
        case .completed: .code(0)
        case .neverStarted, .held, .stopped: nil
        }
    }
}
