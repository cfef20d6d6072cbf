/// A service whose launch is on its way, or that runs and is not ready yet.
extension LifecycleMachine {
    mutating func whileStarting(
        _ slot: Int, _ life: Incarnation, _ phase: StartPhase, _ fact: ProcessFact,
        _ turn: inout Turn
    ) {
        switch (phase, fact) {
        case (.launching, .launched): launched(slot, life, &turn)
        case (.launching, .launchFailed(let failure)):
            perform(.disarm(.start(life)), &turn)
            failBeforeProcess(slot, life, failure, &turn)
        case (.probing, .mainExited(let status)): exitedWhileStarting(slot, life, status, &turn)
        case (.launching, .mainExited), (.launching, .treeEmpty):
            reportDefect("a process ended that was not launched", slot, &turn)
        case (.probing, .launched), (.probing, .launchFailed):
            reportDefect("a launch was answered twice", slot, &turn)
        case (.probing, .treeEmpty):
            reportDefect("a tree emptied whose main process runs", slot, &turn)
        }
    }

    mutating func whileStarting(
        _ slot: Int, _ life: Incarnation, _ phase: StartPhase, _ fact: MessageFact,
        _ turn: inout Turn
    ) {
        guard phase == .probing else {
            return reportDefect("a message came from a process that was not launched", slot, &turn)
        }
        switch fact {
        case .ready:
            guard nodes[slot].spec.readiness != .completion else {
                report(.noted, slot, &turn)
                return
            }
            becomeReady(slot, life, &turn)
        case .channelOpened: noteChannel(slot, &turn)
        case .watchdogInterval(let interval):
            nodes[slot].facts.watchdog = .some(interval)
            report(.watchdogSet(interval), slot, &turn)
        case .extendTimeout(let wish): extendStart(slot, life, wish, &turn)
        case .notReady, .stopping, .watchdogPing, .watchdogTrigger, .probePassed, .probeFailed:
            report(.noted, slot, &turn)
        }
    }

    mutating func whileStarting(
        _ slot: Int, _ life: Incarnation, _ phase: StartPhase, _ timer: TimerID,
        _ turn: inout Turn
    ) {
        switch timer {
        case .start:
            let failure = ServiceFailure.notReadyInTime(nodes[slot].spec.startTimeout)
            disarmStart(life, &turn)
            let then = afterFailure(slot, failure, &turn)
            failRunning(slot, life, .failure(failure), then, &turn)
        case .rung, .kill, .abandon, .watchdog, .healthy, .backoff, .exitBudget:
            report(.stale, slot, &turn)
        }
    }

    private mutating func launched(_ slot: Int, _ life: Incarnation, _ turn: inout Turn) {
        setState(slot, .starting(life, .probing), &turn)
        report(.launched, slot, &turn)
        switch nodes[slot].spec.readiness {
        case .launch: becomeReady(slot, life, &turn)
        case .reported: perform(.watchReadiness(nodes[slot].id, life), &turn)
        case .completion: break
        }
    }

    private mutating func becomeReady(_ slot: Int, _ life: Incarnation, _ turn: inout Turn) {
        disarmStart(life, &turn)
        nodes[slot].ledger.noteReady()
        history.readyStamps += 1
        nodes[slot].readyStamp = history.readyStamps
        // Reported first: what is launched because of it follows from this decision.
        report(.ready, slot, &turn)
        setState(slot, .up(life, .ready), &turn)
        armHealthy(slot, life, &turn)
        if let interval = nodes[slot].watchdog { arm(.watchdog(life), after: interval, &turn) }
        watchLiveness(slot, life, &turn)
    }

    private mutating func exitedWhileStarting(
        _ slot: Int, _ life: Incarnation, _ status: ExitStatus, _ turn: inout Turn
    ) {
        disarmStart(life, &turn)
        switch (nodes[slot].spec.kind, status.isSuccess) {
        case (.oneshot(_, keepsTree: true), true):
            nodes[slot].ledger.forgive()
            history.readyStamps += 1
            nodes[slot].readyStamp = history.readyStamps
            report(.completed, slot, &turn)
            setState(slot, .up(life, .completed), &turn)
        case (.oneshot(_, keepsTree: false), true):
            nodes[slot].ledger.forgive()
            report(.exited(status), slot, &turn)
            clean(slot, life, .completed, (status, .end(.completed)), &turn)
        case (.oneshot, false):
            failExited(slot, life, .unsuccessful(status), status, &turn)
        case (.service, _):
            failExited(slot, life, .endedEarly(status), status, &turn)
        }
    }

    /// What a message of the service itself adds to its start: at most up to the maximum, from
    /// launch. It never takes time away that the start has without it.
    private mutating func extendStart(
        _ slot: Int, _ life: Incarnation, _ wish: Duration, _ turn: inout Turn
    ) {
        let elapsed = turn.now.awake - nodes[slot].moments.launched
        let most = nodes[slot].spec.startTimeoutMax - elapsed
        guard min(wish, most) > .zero else {
            report(.extensionRefused(wish), slot, &turn)
            return
        }
        let granted = max(min(wish.clamped, most), nodes[slot].spec.startTimeout - elapsed)
        report(.timeoutExtended(granted), slot, &turn)
        arm(.start(life), after: granted, &turn)
    }

    func disarmStart(_ life: Incarnation, _ turn: inout Turn) {
        perform(.disarm(.start(life)), &turn)
        perform(.endReadiness(life), &turn)
    }

    mutating func noteChannel(_ slot: Int, _ turn: inout Turn) {
        nodes[slot].facts.hasChannel = true
        report(.channelOpened, slot, &turn)
    }
}
