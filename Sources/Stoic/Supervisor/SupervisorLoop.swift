import Synchronization

/// The task of a supervisor: what follows the end of a child, one at a time.
struct SupervisorLoop {
    let core: SupervisorCore
    let exitBudget: Duration

    /// Runs until the supervisor closes, or fails; then stops every child, the last first.
    func run() async {
        var goesOn = true
        while goesOn {
            let message = await core.mailbox.next(until: nextRestart())
            switch message {
            case nil: break
            case .added(let index): core.start(index)
            case .ended(let index, let run, let result):
                goesOn = await ended(index, run, result)
            case .close: goesOn = false
            }
            if goesOn { startDue() }
            if goesOn { goesOn = !endsByItself() }
        }
        core.state.withLock { $0.isClosing = true }
        let all = core.state.withLock { Array($0.children.indices) }
        let end = Deadline.in(exitBudget, clock: core.clocks.liveness)
        _ = await stop(all, until: end)
        core.idle.fulfil(())
    }

    // MARK: Ends

    /// Decides what follows the end of a run; `false` if the supervisor ends.
    private func ended(_ index: Int, _ run: UInt64, _ result: Result<Void, any Error>) async -> Bool
    {
        let own: (child: SupervisorCore.Child, run: SupervisorCore.Run)? = core.state.withLock {
            guard case .running(let own) = $0.children[index].phase, own.number == run else {
                return nil
            }
            $0.children[index].phase = .over
            let isStable = own.began.duration(to: core.clock.now) >= core.rules.stableAfter
            if isStable { $0.children[index].step = 0 }
            return ($0.children[index], own)
        }
        // One that was stopped, or left behind, has been dealt with.
        guard let own else { return true }
        let (error, verdict) = judge(own.child.spec, result)
        report(own.child.spec, error)
        switch verdict {
        case .over: return true
        case .escalate(let error):
            fail(.escalated(child: own.child.spec.label, error))
            return false
        case .again: return await again(index, error)
        }
    }

    private enum Judgement {
        case again
        case over
        case escalate(any Error)
    }

    private func judge(
        _ spec: ChildSpec, _ result: Result<Void, any Error>
    ) -> ((any Error)?, Judgement) {
        guard case .failure(let error) = result else {
            return (nil, spec.restart == .permanent ? .again : .over)
        }
        if error is DoNotRestart { return (nil, .over) }
        if error is StopTree { return (error, .escalate(error)) }
        if error is any Defect, core.rules.onDefect == .escalate {
            return (error, .escalate(error))
        }
        switch spec.restart {
        case .permanent: return (error, .again)
        // Cancellation is no failure, whoever threw it.
        case .transient: return (error, error is CancellationError ? .over : .again)
        case .temporary: return (error, .over)
        }
    }

    private func report(_ spec: ChildSpec, _ error: (any Error)?) {
        let child = Event.Field("child", spec.label)
        guard let error, !(error is CancellationError) else {
            return emit(.supervisorChildStopped, .info, [child], in: core.context)
        }
        emit(
            .supervisorChildFailed, error is any Defect ? .error : .warning,
            [child, .init("error", describing: error)], in: core.context)
    }

    /// One more restart, of the child and of those its strategy takes along.
    private func again(_ index: Int, _ error: (any Error)?) async -> Bool {
        let now = core.clock.now
        let window = core.rules.intensity.window
        let (label, history) = core.state.withLock { state in
            let label = state.children[index].spec.label
            state.history.removeAll { $0.instant.duration(to: now) >= window }
            state.history.append(.init(child: label, error: error, instant: now))
            return (label, state.history)
        }
        guard history.count <= core.rules.intensity.count else {
            emit(
                .supervisorIntensityExceeded, .error,
                [.init("child", label), .init("restarts", history.count)], in: core.context)
            fail(.intensityExceeded(child: label, history: history))
            return false
        }
        var again = [index]
        let others = taken(along: index)
        if !others.isEmpty {
            let end = Deadline.in(exitBudget, clock: core.clocks.liveness)
            let deaf = await stop(others, until: end)
            if let deaf {
                fail(.childIgnoredStop(child: deaf))
                return false
            }
            again += others.filter { other in
                core.state.withLock { $0.children[other].spec.restart != .temporary }
            }
        }
        schedule(again.sorted(), after: index)
        return true
    }

    /// The other children that are restarted with this one.
    private func taken(along index: Int) -> [Int] {
        core.state.withLock { state in
            state.children.indices.filter { other in
                guard other != index, state.children[other].isAlive else { return false }
                switch core.rules.strategy {
                case .oneForOne: return false
                case .oneForAll: return true
                case .restForOne: return other > index
                }
            }
        }
    }

    private func schedule(_ children: [Int], after failed: Int) {
        let now = core.clock.now
        let delay = core.state.withLock { state in
            let delay = core.rules.backoff.delay(
                step: state.children[failed].step, random: &state.random)
            state.children[failed].step += 1
            for index in children {
                state.children[index].phase = .backingOff(now.advanced(by: delay))
            }
            return delay
        }
        emit(
            .supervisorRestartScheduled, .info, [core.field(failed), .init("after", delay)],
            in: core.context)
    }

    // MARK: Restarts

    private func nextRestart() -> Deadline? {
        let moments: [AnyClock.Instant] = core.state.withLock { state in
            state.children.compactMap { child in
                guard case .backingOff(let moment) = child.phase else { return nil }
                return moment
            }
        }
        return moments.min().map { Deadline(clock: core.clock, instant: $0, limit: .zero) }
    }

    /// Starts those whose delay is over, in the order of their declaration.
    private func startDue() {
        let now = core.clock.now
        let due: [Int] = core.state.withLock { state in
            state.children.indices.filter { index in
                guard case .backingOff(let moment) = state.children[index].phase else {
                    return false
                }
                return moment <= now
            }
        }
        for index in due {
            core.start(index)
            emit(.supervisorRestarted, .info, [core.field(index)], in: core.context)
        }
    }

    // MARK: The end

    private func fail(_ failure: SupervisorError) {
        core.state.withLock { state in
            state.failure = state.failure ?? failure
            state.isClosing = true
        }
        emit(.supervisorEscalated, .error, [.init("why", describing: failure)], in: core.context)
        core.body.cancel(.siblingFailed)
    }

    private func endsByItself() -> Bool {
        core.state.withLock { state in
            let significant = state.children.filter(\.spec.isSignificant)
            let over = significant.filter { !$0.isAlive }
            switch core.rules.automaticEnd {
            case .never: return false
            case .any: return !over.isEmpty
            case .all: return !significant.isEmpty && over.count == significant.count
            }
        }
    }

    /// Stops children, the last declared first; gives back the first that ignored it and may not
    /// overlap.
    private func stop(_ children: [Int], until end: Deadline) async -> String? {
        var deaf: String?
        for (place, index) in children.sorted(by: >).enumerated() {
            let ignored = await stop(index, until: end, later: children.count - 1 - place)
            deaf = deaf ?? ignored
        }
        return deaf
    }

    private func stop(_ index: Int, until end: Deadline, later: Int) async -> String? {
        let (spec, run): (ChildSpec, SupervisorCore.Run?) = core.state.withLock { state in
            let child = state.children[index]
            state.children[index].phase = .over
            guard case .running(let run) = child.phase else { return (child.spec, nil) }
            return (child.spec, run)
        }
        guard let run else { return nil }
        run.cause.record(.supervisorStopping)
        run.task.cancel()
        let wait = FairShare.slot(wanted: spec.stopTimeout, remaining: end.remaining, later: later)
        let child = Event.Field("child", spec.label)
        if await run.ended.wait(for: Site("a stop"), until: .in(wait, clock: end.clock)) != nil {
            emit(.supervisorChildStopped, .info, [child], in: core.context)
            return nil
        }
        await leaveBehind(run, child)
        return spec.allowsOverlap ? nil : spec.label
    }

    private func leaveBehind(_ run: SupervisorCore.Run, _ child: Event.Field) async {
        let owner = core.context.abandoned
        guard AbandonedWork.begin(for: owner) else {
            let label = Event.Field("label", child.value)
            emit(.deadlineAbandonmentSaturated, .error, [label], in: core.context)
            _ = await run.ended.wait(for: Site("a child that may not be left behind"))
            return
        }
        emit(.supervisorChildAbandoned, .error, [child], in: core.context)
        _ = spawn {
            _ = await run.ended.wait(for: Site("a child that was left behind"))
            AbandonedWork.end(for: owner)
        }
    }
}

extension SupervisorCore.Child {
    /// Whether it runs or will run again.
    fileprivate var isAlive: Bool {
        switch phase {
        case .added, .running, .backingOff: true
        case .over: false
        }
    }
}

extension EventName {
    /// A child ignored its stop and was left behind. Field: `child`.
    public static let supervisorChildAbandoned = EventName("supervisor.childAbandoned")
}
