/// Who waits for its turn to stop, and who is next: services that are not ready first, all
/// together; then, among those that nothing alive needs, the one whose latest start became ready
/// last.
struct StopQueue: Hashable, Sendable {
    /// Services queued, begun or not yet found due.
    private(set) var queued = 0
    /// Stops of the queue that have begun and not ended.
    private(set) var running: Set<Int> = []
    /// Candidates: queued services that nothing alive needs. An entry may be out of date.
    private var candidates = Heap<Candidate>()

    struct Candidate: Hashable, Comparable {
        let stamp: UInt64
        let slot: Int

        /// Whether `left` stops before `right`.
        static func < (left: Candidate, right: Candidate) -> Bool {
            left.stamp != right.stamp ? left.stamp > right.stamp : left.slot > right.slot
        }
    }

    /// `slot` waits for its turn from now on.
    mutating func enqueue(_ slot: Int, _ node: Node) {
        queued += 1
        noteFreed(slot, node)
    }

    /// One thing fewer is in the way of stopping `slot`.
    mutating func noteFreed(_ slot: Int, _ node: Node) {
        guard node.state.isQueued, node.liveRequiredDependents == 0 else { return }
        candidates.insert(Candidate(stamp: node.stopRank, slot: slot))
    }

    /// The turn of `slot` has come.
    mutating func begin(_ slot: Int) {
        queued -= 1
        running.insert(slot)
    }

    /// `slot` left the queue without its turn: its main process ended by itself.
    mutating func leave(_ slot: Int) { queued -= 1 }

    /// The stop of `slot` is over, if it was one of the queue's.
    mutating func end(_ slot: Int) { running.remove(slot) }

    /// The candidate whose latest start became ready last; those not ready count as latest of all.
    mutating func pop() -> Candidate? { candidates.popFirst() }
}

extension Node {
    /// Its place among queued services: the highest stops first.
    var stopRank: UInt64 { wasReady ? readyStamp : .max }

    /// Whether it was ready when its stop was asked for.
    var wasReady: Bool {
        guard case .stopping(_, let stop) = state, case .queued(let was) = stop.rung else {
            return false
        }
        switch was {
        case .launching, .probing: return false
        case .up: return true
        }
    }
}

extension LifecycleMachine {
    /// Whether nothing alive is in the way of stopping a queued service. When the project ends that
    /// is every dependent; else those that do not require it go on without it.
    func isDue(_ slot: Int) -> Bool {
        guard nodes[slot].state.isQueued else { return false }
        switch phase {
        case .stopping, .ended: return nodes[slot].liveDependents == 0
        case .idle, .comingUp, .settled: return nodes[slot].liveRequiredDependents == 0
        }
    }

    /// Begins every stop whose turn has come.
    mutating func beginDueStops(_ turn: inout Turn) {
        var postponed: [Int] = []
        while let next = stops.pop() {
            let slot = next.slot
            guard isDue(slot), next.stamp == nodes[slot].stopRank else { continue }
            let mustWait =
                nodes[slot].wasReady && !settings.stopsInParallel && !stops.running.isEmpty
            if mustWait {
                postponed.append(slot)
                break
            }
            stops.begin(slot)
            beginStop(slot, &turn)
        }
        for slot in postponed { stops.noteFreed(slot, nodes[slot]) }
    }

    /// Asks for the stop of a service, in whatever state it is; what follows it is merged with what
    /// an earlier request said.
    mutating func requestStop(
        _ slot: Int, _ cause: ServiceStopCause, then: AfterStop, _ turn: inout Turn
    ) {
        switch nodes[slot].state {
        case .waiting: endWithoutProcess(slot, then, &turn)
        case .backingOff:
            perform(.disarm(.backoff(nodes[slot].id)), &turn)
            endWithoutProcess(slot, then, &turn)
        case .starting(let life, let phase):
            disarmStart(life, &turn)
            let was: StopRung.PhaseBeforeStop = phase == .launching ? .launching : .probing
            enqueue(slot, life, was, (cause, then), &turn)
        case .up(let life, let health):
            disarmUp(slot, life, &turn)
            enqueue(slot, life, .up(health), (cause, then), &turn)
        case .stopping(let life, var stop):
            stop.then = stop.then.merged(with: then)
            report(.noted, slot, &turn)
            if stop.then != .again(delayed: true) {
                perform(.disarm(.backoff(nodes[slot].id)), &turn)
            }
            setState(slot, .stopping(life, stop), &turn)
        case .abandoned(let life, let next):
            let merged = next.merged(with: then)
            if merged != .again(delayed: true) {
                perform(.disarm(.backoff(nodes[slot].id)), &turn)
            }
            setState(slot, .abandoned(life, merged), &turn)
            report(.noted, slot, &turn)
        case .ended(let reason): endAgain(slot, reason, then, &turn)
        }
    }

    private mutating func enqueue(
        _ slot: Int, _ life: Incarnation, _ was: StopRung.PhaseBeforeStop,
        _ why: (cause: ServiceStopCause, then: AfterStop), _ turn: inout Turn
    ) {
        let main: Stop.MainProcess
        switch was {
        case .launching: main = .pending
        case .up(.completed): main = .exited(.code(0))
        case .probing, .up: main = .running
        }
        let stop = Stop(cause: why.cause, rung: .queued(was: was), main: main, then: why.then)
        setState(slot, .stopping(life, stop), &turn)
        report(.stopRequested(why.cause), slot, &turn)
        stops.enqueue(slot, nodes[slot])
    }

    /// A request to stop something that has no process.
    private mutating func endWithoutProcess(
        _ slot: Int, _ then: AfterStop, _ turn: inout Turn
    ) {
        switch then {
        case .end(let reason):
            setState(slot, .ended(reason), &turn)
            report(.stopped(then), slot, &turn)
        case .again: enterWaiting(slot, &turn)
        case .forget: forget(slot, &turn)
        }
    }

    /// A request to stop something that has ended already.
    private mutating func endAgain(
        _ slot: Int, _ reason: EndReason, _ then: AfterStop, _ turn: inout Turn
    ) {
        switch then {
        case .end(.held(let requester)):
            setState(slot, .ended(.held(requester)), &turn)
            report(.noted, slot, &turn)
        case .end:
            // Nobody wants it any more: it is not expected back either.
            guard case .held = reason, !nodes[slot].isWanted else { return }
            setState(slot, .ended(.stopped), &turn)
            report(.noted, slot, &turn)
        case .again: if reason != .completed { enterWaiting(slot, &turn) }
        case .forget: forget(slot, &turn)
        }
    }
}

extension AfterStop {
    /// What follows when a second request meets a first: leaving the project is final; being held
    /// outweighs everything else; an end outweighs another launch; the reason of the first end
    /// stands, unless it was no more than a stop; a new request for a launch overrides a mere stop.
    func merged(with other: AfterStop) -> AfterStop {
        switch (self, other) {
        case (.forget, _), (_, .forget): .forget
        case (.end(.held), .end(.stopped)): self
        case (_, .end(.held)): other
        case (.end(let reason), .end): reason.isAskedFor ? other : self
        case (.again, .end): other
        case (.end, .again), (.again, .again): other
        }
    }
}
