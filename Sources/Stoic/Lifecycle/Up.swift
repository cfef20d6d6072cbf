/// A service that became ready, or completed and kept its tree.
extension LifecycleMachine {
    mutating func whileUp(
        _ slot: Int, _ life: Incarnation, _ health: Health, _ fact: ProcessFact,
        _ turn: inout Turn
    ) {
        switch (fact, health) {
        case (.mainExited(let status), .ready), (.mainExited(let status), .notReady):
            exitedWhileUp(slot, life, status, &turn)
        case (.treeEmpty, .completed):
            release(slot, life, &turn)
            report(.stopped(.end(.completed)), slot, &turn)
            setState(slot, .ended(.completed), &turn)
            noteEnded(slot, .completed, &turn)
        case (.mainExited, .completed), (.treeEmpty, .ready), (.treeEmpty, .notReady),
            (.launched, _), (.launchFailed, _):
            reportDefect("a process that is up cannot do that", slot, &turn)
        }
    }

    mutating func whileUp(
        _ slot: Int, _ life: Incarnation, _ health: Health, _ fact: MessageFact,
        _ turn: inout Turn
    ) {
        switch (fact, health) {
        case (.ready, .notReady):
            report(.ready, slot, &turn)
            setState(slot, .up(life, .ready), &turn)
            armHealthy(slot, life, &turn)
            watchLiveness(slot, life, &turn)
        case (.notReady(let reason), .ready), (.notReady(let reason), .notReady):
            report(.notReady(reason), slot, &turn)
            becomeUnready(slot, life, reason, &turn)
        case (.stopping, .ready), (.stopping, .notReady):
            report(.stopAnswered, slot, &turn)
            // It may let go of what it is probed at before it ends.
            endLiveness(slot, life, &turn)
            becomeUnready(slot, life, "it says that it is stopping", &turn)
        case (.channelOpened, _): noteChannel(slot, &turn)
        case (.watchdogPing, .ready), (.watchdogPing, .notReady):
            report(.noted, slot, &turn)
            if let interval = nodes[slot].watchdog { arm(.watchdog(life), after: interval, &turn) }
        case (.watchdogInterval(let interval), .ready),
            (.watchdogInterval(let interval), .notReady):
            nodes[slot].facts.watchdog = .some(interval)
            report(.watchdogSet(interval), slot, &turn)
            if let interval {
                arm(.watchdog(life), after: interval, &turn)
            } else {
                perform(.disarm(.watchdog(life)), &turn)
            }
        case (.watchdogTrigger, .ready), (.watchdogTrigger, .notReady):
            watchdogMissed(slot, life, &turn)
        case (.probePassed, .ready), (.probePassed, .notReady):
            probePassed(slot, life, &turn)
        case (.probeFailed(let reason), .ready), (.probeFailed(let reason), .notReady):
            probeFailed(slot, life, reason, &turn)
        case (.extendTimeout(let wish), _): report(.extensionRefused(wish), slot, &turn)
        case (.ready, .ready), (_, .completed): report(.noted, slot, &turn)
        }
    }

    mutating func whileUp(
        _ slot: Int, _ life: Incarnation, _ health: Health, _ timer: TimerID, _ turn: inout Turn
    ) {
        switch (timer, health) {
        case (.watchdog, .ready), (.watchdog, .notReady): watchdogMissed(slot, life, &turn)
        case (.healthy, .ready):
            nodes[slot].ledger.forgive()
            report(.healthy, slot, &turn)
        case (.healthy, .notReady), (_, .completed), (.start, _), (.rung, _), (.kill, _),
            (.abandon, _), (.backoff, _), (.exitBudget, _):
            report(.stale, slot, &turn)
        }
    }

    /// Only an uninterrupted time of readiness lets the delays start over.
    private mutating func becomeUnready(
        _ slot: Int, _ life: Incarnation, _ reason: String, _ turn: inout Turn
    ) {
        perform(.disarm(.healthy(life)), &turn)
        setState(slot, .up(life, .notReady(reason)), &turn)
    }

    mutating func armHealthy(_ slot: Int, _ life: Incarnation, _ turn: inout Turn) {
        guard nodes[slot].ledger.step > 0, nodes[slot].state == .up(life, .ready),
            (nodes[slot].facts.failedProbes ?? 0) == 0
        else { return }
        arm(.healthy(life), after: nodes[slot].spec.restart.resetAfter, &turn)
    }

    /// Something a running service needs was lost, or is met again after it was.
    mutating func whileRunning(_ slot: Int, _ event: NeedEvent, _ turn: inout Turn) {
        let need = nodes[slot].spec.needs[event.need]
        let source = nodes[nodes[slot].needs[event.need]].id
        switch (event.fact, need.onNeedLost) {
        case (.lost, .ignore), (.lost, .restart):
            report(.needLost(source, need.onNeedLost), slot, &turn)
        case (.lost, .wait):
            report(.needLost(source, .wait), slot, &turn)
            stopNow(slot, .needLost(source), &turn)
        case (.met, .restart):
            stopNow(slot, .needLost(source), &turn)
        case (.met, .ignore), (.met, .wait):
            if runsAgain(slot) { stopNow(slot, .needLost(source), &turn) }
        }
    }

    /// Whether it is a oneshot that completed, keeps its tree, and runs again with its needs.
    private func runsAgain(_ slot: Int) -> Bool {
        guard case .up(_, .completed) = nodes[slot].state,
            case .oneshot(rerunsWithNeeds: true, _) = nodes[slot].spec.kind
        else { return false }
        return true
    }

    private mutating func exitedWhileUp(
        _ slot: Int, _ life: Incarnation, _ status: ExitStatus, _ turn: inout Turn
    ) {
        disarmUp(slot, life, &turn)
        guard status.isSuccess else {
            return failExited(slot, life, .crashed(status), status, &turn)
        }
        report(.exited(status), slot, &turn)
        let then: AfterStop =
            switch nodes[slot].spec.restart.mode {
            case .always: restartOrGiveUp(slot, .crashed(status), &turn)
            case .no, .onFailure: .end(.exited(status))
            }
        clean(slot, life, .finished, (status, then), &turn)
    }

    /// The service hangs: SIGABRT to its main process, for a core, then the end of the ladder.
    private mutating func watchdogMissed(
        _ slot: Int, _ life: Incarnation, _ turn: inout Turn
    ) {
        disarmUp(slot, life, &turn)
        let failure = ServiceFailure.watchdogMissed(nodes[slot].watchdog ?? .zero)
        let then = afterFailure(slot, failure, &turn)
        let stop = Stop(
            cause: .failure(failure), rung: .acted(nodes[slot].spec.ladder.count), main: .running,
            then: then)
        setState(slot, .stopping(life, stop), &turn)
        report(.signalled(6, .main), slot, &turn)
        perform(.signal(life, 6, .main), &turn)
        armKill(slot, life, &turn)
    }

    mutating func disarmUp(_ slot: Int, _ life: Incarnation, _ turn: inout Turn) {
        perform(.disarm(.watchdog(life)), &turn)
        perform(.disarm(.healthy(life)), &turn)
        endLiveness(slot, life, &turn)
    }
}
