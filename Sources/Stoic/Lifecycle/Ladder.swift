/// The ladder of one stop, from its first rung to SIGKILL and to giving the tree up.
extension LifecycleMachine {
    /// Begins the stop of a queued service.
    mutating func beginStop(_ slot: Int, _ turn: inout Turn) {
        guard case .stopping(let life, var stop) = nodes[slot].state else { return }
        let limits = stopSlot(slot, turn)
        note(limits, slot, turn)
        report(.stopping(stop.cause, limit: limits.beforeKill), slot, &turn)
        switch stop.main {
        case .pending:
            stop.rung = .awaitingLaunch
            setState(slot, .stopping(life, stop), &turn)
            arm(.kill(life), after: limits.beforeKill, &turn)
        case .running, .exited:
            if limits.beforeKill == .zero {
                kill(slot, life, stop, wait: limits.afterKill, &turn)
            } else {
                arm(.kill(life), after: limits.beforeKill, &turn)
                climb(slot, life, stop, to: 0, &turn)
            }
        }
    }

    /// Remembers how long a stop that begins now may take.
    mutating func note(_ limits: StopSlot, _ slot: Int, _ turn: Turn) {
        nodes[slot].moments.kill = turn.now.awake.saturatingSum(limits.beforeKill)
        nodes[slot].moments.killWait = limits.afterKill
    }

    /// How long the stop of a service may take that begins now.
    func stopSlot(_ slot: Int, _ turn: Turn) -> StopSlot {
        let node = nodes[slot]
        guard let end = history.budgetEnd else {
            return StopSlot(stopTimeout: node.spec.stopTimeout)
        }
        let later = settings.stopsInParallel ? node.depth : stops.queued
        return StopSlot(
            stopTimeout: node.spec.stopTimeout, remaining: end - turn.now.awake, later: later)
    }

    /// Takes the first rung from `index` on that applies. Past the last, only SIGKILL is left,
    /// whose timer runs.
    mutating func climb(
        _ slot: Int, _ life: Incarnation, _ before: Stop, to index: Int, _ turn: inout Turn
    ) {
        var stop = before
        let ladder = nodes[slot].spec.ladder
        guard index < ladder.count else {
            switch stop.rung {
            case .queued, .awaitingLaunch:
                stop.rung = .acted(index)
                setState(slot, .stopping(life, stop), &turn)
            case .messageSent, .acted, .cleaning, .killed: report(.noted, slot, &turn)
            }
            return
        }
        let rest = max(nodes[slot].moments.kill - turn.now.awake, .zero)
        switch ladder[index].action {
        case .message:
            guard nodes[slot].facts.hasChannel, stop.main == .running else {
                return climb(slot, life, before, to: index + 1, &turn)
            }
            stop.rung = .messageSent(index, answered: false)
            setState(slot, .stopping(life, stop), &turn)
            report(.stopMessageSent, slot, &turn)
            perform(.sendStop(life, exit(for: stop.cause), deadline: rest), &turn)
            let wait = ladder[index].wait ?? min(Self.answerWait, rest / 2)
            arm(.rung(life), after: min(wait, rest), &turn)
        case .signal(let number, let target):
            stop.rung = .acted(index)
            setState(slot, .stopping(life, stop), &turn)
            report(.signalled(number, target), slot, &turn)
            perform(.signal(life, number, target), &turn)
            armNextRung(slot, life, after: index, rest: rest, &turn)
        case .command(let command):
            stop.rung = .acted(index)
            setState(slot, .stopping(life, stop), &turn)
            report(.stopCommandRun(command), slot, &turn)
            perform(
                .runStopCommand(
                    life, index: command, exit(for: stop.cause),
                    deadline: min(ladder[index].wait ?? rest, rest)), &turn)
            armNextRung(slot, life, after: index, rest: rest, &turn)
        }
    }

    /// How long the graceful message waits for its answer; at most half of what is left, so that a
    /// short `stopTimeout` still sends the next rung before SIGKILL.
    static let answerWait = Duration.milliseconds(500)
    /// How long before SIGKILL an answered graceful message is followed by the next rung.
    static let lastRungLead = Duration.seconds(1)

    /// A rung without a wait of its own shares what is left evenly with those after it and SIGKILL.
    private mutating func armNextRung(
        _ slot: Int, _ life: Incarnation, after index: Int, rest: Duration, _ turn: inout Turn
    ) {
        let later = nodes[slot].spec.ladder.count - 1 - index
        guard later > 0 else { return }
        let wait = nodes[slot].spec.ladder[index].wait ?? rest / (later + 1)
        arm(.rung(life), after: min(wait, rest), &turn)
    }

    /// The service answered the graceful message: the next rung follows shortly before SIGKILL.
    mutating func noteAnswer(
        _ slot: Int, _ life: Incarnation, _ stop: Stop, rung index: Int, _ turn: inout Turn
    ) {
        var answered = stop
        answered.rung = .messageSent(index, answered: true)
        setState(slot, .stopping(life, answered), &turn)
        report(.stopAnswered, slot, &turn)
        guard nodes[slot].spec.ladder[index].wait == nil else { return }
        let rest = max(nodes[slot].moments.kill - turn.now.awake, .zero)
        let lead = min(Self.lastRungLead, rest / 2)
        arm(.rung(life), after: rest - lead, &turn)
    }

    /// SIGKILL for the whole tree, or for a launch that was not answered yet, and a bounded wait
    /// for nothing to be left.
    mutating func kill(
        _ slot: Int, _ life: Incarnation, _ before: Stop, wait: Duration, _ turn: inout Turn
    ) {
        var stop = before
        stop.rung = .killed
        perform(.disarm(.rung(life)), &turn)
        perform(.disarm(.kill(life)), &turn)
        setState(slot, .stopping(life, stop), &turn)
        report(.killed, slot, &turn)
        perform(.kill(life), &turn)
        arm(.abandon(life), after: wait, &turn)
    }

    /// How long a tree may take to empty when everything is killed at once: the budget is a
    /// promise, but the kernel needs a moment.
    func lastKillWait(_ turn: Turn) -> Duration {
        guard let end = history.budgetEnd else { return FairShare.killWait }
        return min(FairShare.killWait, max(end - turn.now.awake, Self.leastKillWait))
    }

    /// The shortest wait for a killed tree to empty.
    package static let leastKillWait = Duration.milliseconds(100)

    /// Why things end, in words for the service itself.
    func exit(for cause: ServiceStopCause) -> LifecycleEffect.Exit {
        switch cause {
        case .project: projectExit
        case .requested(let requester): .cancelled("stopped by \(requester)")
        case .needStops(let need, let requester):
            .cancelled("\(name(of: need)), which it needs, was stopped by \(requester)")
        case .needLost(let need): .cancelled("\(name(of: need)), which it needs, was lost")
        case .unwanted: .success
        case .restart(let requester): .cancelled("restarted by \(requester)")
        case .plan: .cancelled("the config changed")
        case .failure: .failure("it failed")
        case .finished, .completed: .success
        }
    }

    private var projectExit: LifecycleEffect.Exit {
        guard case .stopping(let cause) = phase else { return .success }
        switch cause {
        case .requested(let requester): return .cancelled("stopped by \(requester)")
        case .signal(let number): return .cancelled("stopped by signal \(number)")
        case .startFailed(let id): return .failure("\(name(of: id)) failed to start")
        case .essentialEnded(let id): return .failure("\(name(of: id)), which is essential, ended")
        case .allEnded: return .success
        }
    }

    func name(of id: ServiceID) -> String { nodes[id.slot].spec.name.text }

    mutating func arm(_ timer: TimerID, after wait: Duration, _ turn: inout Turn) {
        perform(.arm(timer, after: wait.clamped, on: timer.clock), &turn)
    }
}

extension TimerID {
    /// What judges a child counts awake time; what waits for the world or the user, boot time.
    public var clock: ClockKind {
        switch self {
        case .start, .rung, .kill, .abandon, .watchdog, .exitBudget: .awake
        case .backoff, .healthy: .boot
        }
    }
}
