import Synchronization

/// What the machine wants done, done to closures.
extension GraphRun {
    func perform(_ output: LifecycleOutput) {
        for decision in output.decisions { report(decision) }
        for effect in output.effects { perform(effect.action) }
    }

    private func perform(_ action: LifecycleEffect.Action) {
        switch action {
        case .launch(let id, let life): launch(id.slot, life)
        case .runStopCommand(let life, _, _, let deadline): stop(life, within: deadline)
        case .kill(let life): cancel(life)
        case .arm(let timer, let wait, let clock): timers(on: clock).arm(timer, after: wait)
        case .disarm(let timer): timers(on: timer.clock).disarm(timer)
        case .endProject: noteEnded()
        case .release(let life): _ = state.withLock { $0.lives.removeValue(forKey: life) }
        // A start reports its own readiness; the rest is about processes, which a graph has none
        // of, and about pauses, which its clock leaves out by itself.
        case .watchReadiness, .endReadiness, .watchLiveness, .endLiveness, .sendStop, .sendReload,
            .signal, .signalRest, .postpone, .forget:
            break
        }
    }

    // MARK: Starting

    private func launch(_ slot: Int, _ life: Incarnation) {
        let provide = provides[slot]
        let cause = CauseBox(inside: context.cause)
        let inside = inner(provide, cause, within: provide.startTimeout)
        let services = Services(values: values, reader: (provide.key, Set(provide.needs)))
        // Told before the start can say anything of its own, on whatever thread it runs.
        post(.process(life, .launched))
        // The life is in the table before its start can end.
        state.withLock {
            $0.lives[life] = GraphLife(slot: slot, cause: cause, phase: .starting(nil))
        }
        let task = spawn { [self] in
            await withContext(inside) {
                let result: Result<any Sendable, any Error>
                do {
                    result = .success(try await provide.start(services))
                } catch {
                    result = .failure(error)
                }
                started(slot, life, result)
            }
        }
        // Nobody can have cancelled it before: effects are performed one at a time.
        state.withLock { state in
            guard case .starting = state.lives[life]?.phase else { return }
            state.lives[life]?.phase = .starting(task)
        }
    }

    private func inner(
        _ provide: Provide, _ cause: CauseBox, within limit: Duration
    ) -> Context {
        var inside = context
        inside.cause = cause
        inside.path = ScopePath(provide.key.name, inside: context.path)
        // What it runs may ask how much time it has.
        inside.ambient.deadline = .in(limit, clock: clocks.liveness)
        return inside
    }

    private func started(
        _ slot: Int, _ life: Incarnation, _ result: Result<any Sendable, any Error>
    ) {
        switch result {
        case .success(let value):
            let isWanted = state.withLock { state in
                guard let record = state.lives[life], !record.isUnwanted else { return false }
                state.lives[life]?.phase = .up(value, work: nil)
                return true
            }
            guard isWanted else { return stopLate(slot, life, value) }
            values.set(provides[slot].key, value)
            beginWork(slot, life, value)
            post(.message(life, .ready))
        case .failure(let error):
            noteFailure(slot, life, error)
            gone(life, .code(1))
        }
    }

    private func noteFailure(_ slot: Int, _ life: Incarnation, _ error: any Error) {
        let isCancellation = error is CancellationError
        let hasFailed = state.withLock { state in
            // One that was cancelled and says no more than that has not failed by itself.
            if isCancellation, state.lives[life]?.cause.own != nil { return false }
            if !state.failures.contains(where: { $0.slot == slot }) {
                state.failures.append((slot, error))
            }
            state.exit = state.exit ?? .failure(error)
            return true
        }
        let name = Event.Field("service", provides[slot].key.name)
        if hasFailed {
            tell(.serviceStartFailed, .error, [name, .init("error", describing: error)])
        } else {
            tell(.serviceStartCancelled, .info, [name])
        }
    }

    /// A start did not return in time.
    func noteStartTimeout(_ slot: Int) {
        let error = DeadlineExceeded(limit: provides[slot].startTimeout)
        let cause: CauseBox? = state.withLock { state in
            state.failures.append((slot, error))
            state.exit = state.exit ?? .failure(error)
            return state.lives.values.first { $0.slot == slot }?.cause
        }
        cause?.record(.deadlineExpired)
    }

    private func beginWork(_ slot: Int, _ life: Incarnation, _ value: any Sendable) {
        guard let work = provides[slot].work else { return }
        let cause = CauseBox(inside: context.cause)
        var inside = inner(provides[slot], cause, within: .century)
        inside.ambient.deadline = nil
        state.withLock { state in
            let task = spawn { [self, inside] in
                await withContext(inside) {
                    do { try await work(value) } catch { workFailed(slot, cause, error) }
                }
            }
            state.lives[life]?.phase = .up(value, work: GraphWork(cause: cause, task: task))
        }
    }

    /// The work of a service failed: everything stops, and the error comes out of the run.
    private func workFailed(_ slot: Int, _ cause: CauseBox, _ error: any Error) {
        guard cause.own == nil else { return }
        tell(
            .serviceWorkFailed, .error,
            [.init("service", provides[slot].key.name), .init("error", describing: error)])
        state.withLock { state in
            state.workFailure = state.workFailure ?? error
            state.exit = state.exit ?? .failure(error)
        }
        endBody(.siblingFailed, because: "the work of \(provides[slot].key.name) failed")
    }
}

// MARK: Stopping

extension GraphRun {
    /// The one rung of a service: its stop, or the cancellation of its start.
    private func stop(_ life: Incarnation, within deadline: Duration) {
        enum Step {
            case cancel(Task<Void, Never>?)
            case run(slot: Int, any Sendable, GraphWork?, Exit)
            case nothing
        }
        let step: Step = state.withLock { state in
            guard let record = state.lives[life] else { return .nothing }
            let exit = state.exit ?? .success
            switch record.phase {
            case .starting(let task):
                state.lives[life]?.isUnwanted = true
                record.cause.record(state.failures.isEmpty ? exit.startCause : .siblingFailed)
                return .cancel(task)
            case .up(let value, let work):
                state.lives[life]?.phase = .stopping(nil)
                return .run(slot: record.slot, value, work, exit)
            case .stopping, .over: return .nothing
            }
        }
        switch step {
        case .cancel(let task): task?.cancel()
        case .run(let slot, let value, let work, let exit):
            let task = spawn { [self] in
                await runStop(slot, life, (value, work, exit), within: deadline)
            }
            // As with a start: nobody can have cancelled it before.
            state.withLock { state in
                guard case .stopping = state.lives[life]?.phase else { return }
                state.lives[life]?.phase = .stopping(task)
            }
        case .nothing: break
        }
    }

    private func runStop(
        _ slot: Int, _ life: Incarnation,
        _ what: (value: any Sendable, work: GraphWork?, exit: Exit), within deadline: Duration
    ) async {
        let provide = provides[slot]
        let cause = CauseBox(inside: nil)
        if Task.isCancelled { cause.record(.deadlineExpired) }
        state.withLock { $0.lives[life]?.cause = cause }
        await what.work?.end()
        await withContext(inner(provide, cause, within: deadline)) {
            do {
                try await provide.stop(what.value, what.exit)
            } catch {
                let wasCut = cause.own != nil && error is CancellationError
                if !wasCut { stopFailed(slot, error) }
            }
        }
        state.withLock { $0.stopped.append(slot) }
        gone(life, .code(0))
    }

    private func stopFailed(_ slot: Int, _ error: any Error) {
        tell(
            .serviceStopFailed, error is any Defect ? .error : .warning,
            [.init("service", provides[slot].key.name), .init("error", describing: error)])
    }

    /// Its time is over: whatever of it runs is cancelled. One that still waits for its turn to
    /// stop is stopped all the same, by a stop that begins cancelled.
    private func cancel(_ life: Incarnation) {
        let task: Task<Void, Never>? = state.withLock { state in
            guard let record = state.lives[life] else { return nil }
            record.cause.record(.deadlineExpired)
            switch record.phase {
            case .starting(let task):
                state.lives[life]?.isUnwanted = true
                return task
            case .stopping(let task): return task
            case .up(let value, let work):
                let exit = state.exit ?? .success
                let task = spawn { [self] in
                    await runStop(record.slot, life, (value, work, exit), within: .zero)
                }
                state.lives[life]?.phase = .stopping(task)
                return task
            case .over: return nil
            }
        }
        task?.cancel()
    }

    /// Nothing of it runs any more.
    private func gone(_ life: Incarnation, _ status: ExitStatus) {
        let record: GraphLife? = state.withLock { state in
            state.lives[life]?.phase = .over
            return state.lives[life]
        }
        if record?.isAbandoned == true { AbandonedWork.end(for: context.abandoned) }
        post(.process(life, .mainExited(status)))
        post(.process(life, .treeEmpty))
    }

    /// What a start returned that nobody waits for any more is stopped at once.
    private func stopLate(_ slot: Int, _ life: Incarnation, _ value: any Sendable) {
        tell(.serviceLateStart, .warning, [.init("service", provides[slot].key.name)])
        let limit = machine.withLock { $0.nodes[slot].spec.stopTimeout }
        // Its end may come at any time, also now: the task is noted before it can run.
        state.withLock { state in
            let exit = state.exit ?? .cancelled(.requested)
            let task = spawn { [self] in
                await runStop(slot, life, (value, nil, exit), within: limit)
            }
            state.lives[life]?.phase = .stopping(task)
        }
    }

    /// It ignored its cancellation: it is left behind, and counted.
    func noteAbandoned(_ slot: Int, _ life: Incarnation) {
        // Over the cap the machine has let go of it all the same: it is not counted, but said.
        guard AbandonedWork.begin(for: context.abandoned) else {
            let label = Event.Field("label", provides[slot].key.name)
            return tell(.deadlineAbandonmentSaturated, .error, [label])
        }
        state.withLock { $0.lives[life]?.isAbandoned = true }
    }
}

extension Exit {
    /// Why starts are cancelled when everything ends for this reason.
    fileprivate var startCause: CancellationCause {
        switch self {
        case .success: .graphStopping
        case .failure: .siblingFailed
        case .cancelled(let cause): cause
        }
    }
}
