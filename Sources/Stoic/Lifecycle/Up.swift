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
            setState(slot, .ended(.completed), &turn)
            report(.stopped(.end(.completed)), slot, &turn)
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
            setState(slot, .up(life, .ready), &turn)
            report(.ready, slot, &turn)
        case (.notReady(let reason), .ready), (.notReady(let reason), .notReady):
            setState(slot, .up(life, .notReady(reason)), &turn)
            report(.notReady(reason), slot, &turn)
        case (.stopping, .ready), (.stopping, .notReady):
            setState(slot, .up(life, .notReady("it says that it is stopping")), &turn)
            report(.stopAnswered, slot, &turn)
        case (.channelOpened, _): noteChannel(slot, &turn)
        case (.watchdogPing, _):
            report(.noted, slot, &turn)
            if let interval = nodes[slot].watchdog { arm(.watchdog(life), after: interval, &turn) }
        case (.watchdogInterval(let interval), _):
            nodes[slot].facts.watchdog = .some(interval)
            report(.watchdogSet(interval), slot, &turn)
            if let interval {
                arm(.watchdog(life), after: interval, &turn)
            } else {
                perform(.disarm(.watchdog(life)), &turn)
            }
        case (.watchdogTrigger, .ready), (.watchdogTrigger, .notReady):
            watchdogMissed(slot, life, &turn)
        case (.extendTimeout(let wish), _): report(.extensionRefused(wish), slot, &turn)
        case (.ready, .ready), (_, .completed): report(.noted, slot, &turn)
        }
    }

    mutating func whileUp(
        _ slot: Int, _ life: Incarnation, _ timer: TimerID, _ turn: inout Turn
    ) {
        switch timer {
        case .watchdog: watchdogMissed(slot, life, &turn)
        case .healthy:
            nodes[slot].ledger.forgive()
            report(.healthy, slot, &turn)
        case .start, .rung, .kill, .abandon, .backoff, .exitBudget: report(.stale, slot, &turn)
        }
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
        case (.met, .ignore), (.met, .wait): break
        }
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

    func disarmUp(_ slot: Int, _ life: Incarnation, _ turn: inout Turn) {
        perform(.disarm(.watchdog(life)), &turn)
        perform(.disarm(.healthy(life)), &turn)
    }
}
