/// A service that is to end, and one that outlived SIGKILL.
extension LifecycleMachine {
    mutating func whileStopping(
        _ slot: Int, _ life: Incarnation, _ before: Stop, _ fact: ProcessFact,
        _ turn: inout Turn
    ) {
        var stop = before
        switch (fact, stop.main) {
        case (.launched, .pending): launchedWhileStopping(slot, life, stop, &turn)
        case (.launchFailed(let failure), .pending):
            report(.failed(.cannotLaunch(failure)), slot, &turn)
            finish(slot, life, stop.cause, stop.then, &turn)
        case (.mainExited(let status), .running):
            stop.main = .exited(status)
            mainExitedWhileStopping(slot, life, stop, &turn)
        case (.treeEmpty, .exited): finish(slot, life, stop.cause, stop.then, &turn)
        case (.launched, .running), (.launched, .exited), (.launchFailed, .running),
            (.launchFailed, .exited):
            reportDefect("a launch was answered twice", slot, &turn)
        case (.mainExited, .pending), (.mainExited, .exited), (.treeEmpty, .pending),
            (.treeEmpty, .running):
            reportDefect("a process ended that did not run", slot, &turn)
        }
    }

    mutating func whileStopping(
        _ slot: Int, _ life: Incarnation, _ stop: Stop, _ fact: MessageFact,
        _ turn: inout Turn
    ) {
        switch fact {
        case .stopping:
            guard case .messageSent(let index, answered: false) = stop.rung else {
                report(.noted, slot, &turn)
                return
            }
            noteAnswer(slot, life, stop, rung: index, &turn)
        case .channelOpened: noteChannel(slot, &turn)
        case .extendTimeout(let wish): report(.extensionRefused(wish), slot, &turn)
        case .ready, .notReady, .watchdogPing, .watchdogInterval, .watchdogTrigger, .probePassed,
            .probeFailed:
            report(.noted, slot, &turn)
        }
    }

    mutating func whileStopping(
        _ slot: Int, _ life: Incarnation, _ stop: Stop, _ timer: TimerID, _ turn: inout Turn
    ) {
        switch (timer, stop.rung) {
        case (.rung, .messageSent(let index, _)), (.rung, .acted(let index)):
            climb(slot, life, stop, to: index + 1, &turn)
        case (.kill, .awaitingLaunch), (.kill, .messageSent), (.kill, .acted),
            (.kill, .cleaning):
            kill(slot, life, stop, wait: nodes[slot].moments.killWait, &turn)
        case (.abandon, .killed): abandon(slot, life, stop, &turn)
        case (.rung, _), (.kill, _), (.abandon, _), (.start, _), (.watchdog, _), (.healthy, _),
            (.backoff, _), (.exitBudget, _):
            report(.stale, slot, &turn)
        }
    }

    private mutating func launchedWhileStopping(
        _ slot: Int, _ life: Incarnation, _ before: Stop, _ turn: inout Turn
    ) {
        var stop = before
        stop.main = .running
        switch stop.rung {
        case .queued:
            stop.rung = .queued(was: .probing)
            setState(slot, .stopping(life, stop), &turn)
            report(.launched, slot, &turn)
        case .awaitingLaunch:
            setState(slot, .stopping(life, stop), &turn)
            report(.launched, slot, &turn)
            climb(slot, life, stop, to: 0, &turn)
        case .killed:
            setState(slot, .stopping(life, stop), &turn)
            report(.launched, slot, &turn)
            perform(.kill(life), &turn)
        case .messageSent, .acted, .cleaning:
            reportDefect("a ladder began before the launch was answered", slot, &turn)
        }
    }

    private mutating func mainExitedWhileStopping(
        _ slot: Int, _ life: Incarnation, _ before: Stop, _ turn: inout Turn
    ) {
        guard case .exited(let status) = before.main else { return }
        var stop = before
        switch stop.rung {
        case .killed:
            setState(slot, .stopping(life, stop), &turn)
            report(.mainExited(status), slot, &turn)
        case .queued:
            stops.leave(slot)
            stop.rung = .cleaning
            setState(slot, .stopping(life, stop), &turn)
            report(.mainExited(status), slot, &turn)
            perform(.signal(life, 15, .tree), &turn)
            armKill(slot, life, &turn)
        case .awaitingLaunch, .messageSent, .acted, .cleaning:
            stop.rung = .cleaning
            perform(.disarm(.rung(life)), &turn)
            setState(slot, .stopping(life, stop), &turn)
            report(.mainExited(status), slot, &turn)
            perform(.signalRest(life, 15), &turn)
        }
    }

    private mutating func abandon(
        _ slot: Int, _ life: Incarnation, _ stop: Stop, _ turn: inout Turn
    ) {
        stops.end(slot)
        setState(slot, .abandoned(life, stop.then), &turn)
        report(.abandoned, slot, &turn)
    }

    /// The tree is empty: the stop is over.
    mutating func finish(
        _ slot: Int, _ life: Incarnation, _ cause: ServiceStopCause, _ then: AfterStop,
        _ turn: inout Turn
    ) {
        if nodes[slot].state.isQueued { stops.leave(slot) }
        stops.end(slot)
        var next = then
        // A rollback decided meanwhile that nothing starts again.
        if case .stopping(_, let stop) = nodes[slot].state { next = stop.then.merged(with: then) }
        settleAfterStop(slot, life, next, &turn)
    }

    /// Goes where a stop leads once nothing of the incarnation is left.
    private mutating func settleAfterStop(
        _ slot: Int, _ life: Incarnation, _ then: AfterStop, _ turn: inout Turn
    ) {
        report(.stopped(then), slot, &turn)
        release(slot, life, &turn)
        switch then {
        case .end(let reason):
            if reason == .completed { report(.completed, slot, &turn) }
            setState(slot, .ended(reason), &turn)
            noteEnded(slot, reason, &turn)
        case .again(delayed: true): setState(slot, .backingOff, &turn)
        case .again(delayed: false): enterWaiting(slot, &turn)
        case .forget: forget(slot, &turn)
        }
    }

    /// Everything held for an incarnation goes.
    mutating func release(_ slot: Int, _ life: Incarnation, _ turn: inout Turn) {
        for timer: TimerID in [.rung(life), .kill(life), .abandon(life)] {
            perform(.disarm(timer), &turn)
        }
        perform(.release(life), &turn)
    }

    // MARK: Abandoned

    mutating func whileAbandoned(
        _ slot: Int, _ life: Incarnation, _ next: AfterStop, _ fact: ProcessFact,
        _ turn: inout Turn
    ) {
        switch fact {
        case .launched:
            report(.launched, slot, &turn)
            perform(.kill(life), &turn)
        case .mainExited(let status): report(.mainExited(status), slot, &turn)
        case .launchFailed, .treeEmpty:
            report(.abandonedTreeEmpty, slot, &turn)
            settleAfterStop(slot, life, next, &turn)
        }
    }
}

extension StopRung {
    package var isQueued: Bool {
        guard case .queued = self else { return false }
        return true
    }
}
