/// What follows a failure: another attempt, the end of the project, the restart policy, or giving
/// up.
extension LifecycleMachine {
    /// Decides and reports what follows `failure`. Read from the spec that holds now.
    mutating func afterFailure(
        _ slot: Int, _ failure: ServiceFailure, _ turn: inout Turn
    ) -> AfterStop {
        report(.failed(failure), slot, &turn)
        if isEnding { return .end(.stopped) }
        guard nodes[slot].isWanted else { return .end(.failed(failure)) }
        if failure.isStartFailure {
            if nodes[slot].ledger.attempts < nodes[slot].spec.startAttempts {
                return restartOrGiveUp(slot, failure, &turn)
            }
            if phase == .comingUp, nodes[slot].spec.onStartFailure == .rollback {
                stopProject(.startFailed(nodes[slot].id), &turn)
                return .end(.failed(failure))
            }
            planFailed(slot, &turn)
        }
        switch nodes[slot].spec.restart.mode {
        case .no: return .end(.failed(failure))
        case .onFailure, .always: return restartOrGiveUp(slot, failure, &turn)
        }
    }

    /// One more launch after its delay, which counts from now, unless the limit is reached.
    mutating func restartOrGiveUp(
        _ slot: Int, _ failure: ServiceFailure, _ turn: inout Turn
    ) -> AfterStop {
        let policy = nodes[slot].spec.restart
        guard nodes[slot].ledger.isWithinLimit(policy, at: turn.now.boot) else {
            report(.gaveUp(restarts: policy.limitCount, within: policy.limitWindow), slot, &turn)
            return .end(.gaveUp(failure, restarts: policy.limitCount))
        }
        let delay = nodes[slot].ledger.scheduleRestart(
            policy, at: turn.now.boot, random: &settings.random)
        report(
            .restartScheduled(after: delay, attempt: nodes[slot].ledger.step), slot, &turn)
        guard delay > .zero else { return .again(delayed: false) }
        arm(.backoff(nodes[slot].id), after: delay, &turn)
        return .again(delayed: true)
    }

    /// The program never ran: there is no tree to clean up.
    mutating func failBeforeProcess(
        _ slot: Int, _ life: Incarnation, _ failure: LaunchFailure, _ turn: inout Turn
    ) {
        let then = afterFailure(slot, .cannotLaunch(failure), &turn)
        finish(slot, life, .failure(.cannotLaunch(failure)), then, &turn)
    }

    /// The main process ended: what it left is cleaned up.
    mutating func failExited(
        _ slot: Int, _ life: Incarnation, _ failure: ServiceFailure, _ status: ExitStatus,
        _ turn: inout Turn
    ) {
        let then = afterFailure(slot, failure, &turn)
        clean(slot, life, .failure(failure), (status, then), &turn)
    }

    /// The main process is gone unasked. The rest of the tree gets SIGTERM now, SIGKILL later.
    mutating func clean(
        _ slot: Int, _ life: Incarnation, _ cause: ServiceStopCause,
        _ outcome: (status: ExitStatus, then: AfterStop), _ turn: inout Turn
    ) {
        var then = outcome.then
        // A rollback has asked for the stop of every service by now, this one included.
        if case .stopping(_, let stop) = nodes[slot].state {
            if stop.rung.isQueued { stops.leave(slot) }
            then = stop.then.merged(with: then)
        }
        let stop = Stop(
            cause: cause, rung: .cleaning, main: .exited(outcome.status), then: then)
        setState(slot, .stopping(life, stop), &turn)
        perform(.signal(life, 15, .tree), &turn)
        armKill(slot, life, &turn)
    }

    /// The service failed while its main process runs: its stop begins now, or, when the failure
    /// ends the project, in its turn.
    mutating func failRunning(
        _ slot: Int, _ life: Incarnation, _ cause: ServiceStopCause, _ then: AfterStop,
        _ turn: inout Turn
    ) {
        if case .stopping(_, var stop) = nodes[slot].state {
            stop.then = stop.then.merged(with: then)
            stop.cause = cause
            setState(slot, .stopping(life, stop), &turn)
            return
        }
        stopNow(slot, cause, then: then, &turn)
    }

    mutating func armKill(_ slot: Int, _ life: Incarnation, _ turn: inout Turn) {
        let limits = stopSlot(slot, turn)
        note(limits, slot, turn)
        arm(.kill(life), after: limits.beforeKill, &turn)
    }
}
