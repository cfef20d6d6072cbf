import Synchronization

/// Something that is in one of a few states, moves between them as a table says, and does in each
/// what that state owns.
///
/// Events come in through `send`, from anywhere, and are answered one after the other in the order
/// they came, by whoever runs the machine. A state's work is cancelled when the state is left and
/// has ended before the next state's begins. Timeouts and what work returns are events too; they
/// belong to one stay in a state and are dropped when it is over.
///
/// ```swift
/// let link = StateMachine(try linkTable())
/// async let end = link.run()
/// try link.send(.connect)
/// try await link.wait(for: .up)
/// ```
public final class StateMachine<State, Event>: Sendable
where
    State: Hashable & CaseIterable & Sendable, Event: Hashable & CaseIterable & Sendable
{
    /// What it may do.
    public let table: TransitionTable<State, Event>
    private let core: Mutex<MachineCore<State, Event>>

    /// A machine in the initial state. Events it gets before it runs are kept.
    public init(_ table: TransitionTable<State, Event>) {
        self.table = table
        core = Mutex(MachineCore(state: table.initial))
    }

    /// The state it is in. While it moves, the one it leaves.
    public var state: State { core.withLock { $0.state } }

    /// Hands it an event; never waits. Allowed from within its own work and effects.
    ///
    /// - Returns: `false` if it has ended, which makes the event void.
    /// - Throws: `EventQueueFull` if 64 events wait already. That is a defect: somebody sends
    ///   faster than the machine can ever answer.
    @discardableResult
    public func send(_ event: Event) throws(EventQueueFull) -> Bool {
        switch core.withLock({ $0.add(event) }) {
        case .ended:
            return false
        case .added(let reader):
            reader?.settle(true)
            return true
        case .full:
            emit(
                .stateOverflowed, .error,
                [.init("label", table.label), .init("event", "\(event)")])
            throw EventQueueFull(label: table.label)
        }
    }

    /// Waits until it is in, or enters, one of `states`.
    ///
    /// - Returns: Which one. It may have been left again.
    /// - Throws: `StateMachineEnded` if it ends elsewhere; `CancellationError` if the caller is
    ///   cancelled.
    @discardableResult
    public nonisolated(nonsending) func wait(for states: State...) async throws -> State {
        try Task.checkCancellation()
        let parking = Parking<MachineWait<State>>()
        switch core.withLock({ $0.addWaiter(for: Set(states), parking) }) {
        case .isThere(let state): return state
        case .isOver: throw StateMachineEnded()
        case .added(let id):
            let answer = await parking.value(
                cancelled: .cancelled, at: Site("a state"), table.label)
            core.withLock { $0.removeWaiter(id) }
            switch answer {
            case .entered(let state): return state
            case .ended: throw StateMachineEnded()
            case .cancelled: throw CancellationError()
            }
        }
    }

    /// Runs it, until it is in a final state or the caller is cancelled. Either way nothing of it
    /// is left running, but for work that ignored its cancellation longer than its `leaveTimeout`.
    ///
    /// - Parameter clock: Whose time timeouts and leaving take; the ambient clock unless given.
    /// - Returns: The final state.
    /// - Throws: `CancellationError` only.
    /// - Precondition: It has not run before.
    public nonisolated(nonsending) func run(
        clock: (any Clock<Duration>)? = nil
    ) async throws -> State {
        precondition(core.withLock { $0.begin() }, "a state machine runs once")
        let clock = AnyClock.given(clock)
        var stay = enter(table.initial, clock)
        while let input = await next() {
            guard let (target, effect) = answer(input, in: stay) else { continue }
            await leave(stay, .replaced)
            if Task.isCancelled, !table.final.contains(target) {
                end()
                throw CancellationError()
            }
            effect?()
            stay = enter(target, clock)
            if table.final.contains(target) {
                end()
                return target
            }
        }
        await leave(stay, .scopeClosed)
        end()
        throw CancellationError()
    }

    /// The next event; `nil` as soon as the caller is cancelled.
    private nonisolated(nonsending) func next() async -> MachineInput<Event>? {
        let site = Site("the next event of a state machine")
        while !Task.isCancelled {
            let parking = Parking<Bool>()
            if let input = core.withLock({ $0.next(or: parking) }) { return input }
            guard await parking.value(cancelled: false, at: site, table.label) else { return nil }
        }
        return nil
    }

    /// Where the event leads from here, if anywhere.
    private func answer(
        _ input: MachineInput<Event>, in stay: Stay
    ) -> (State, TransitionRow<State, Event>.Effect?)? {
        if let generation = input.generation, generation != stay.generation {
            report(.stateStale, .debug, stay.state, input.event)
            return nil
        }
        let rule = table.rules[.init(state: stay.state, event: input.event)]
        switch rule?.answer {
        case .move(let target):
            return (target, rule?.effect)
        case .ignore, nil:
            report(.stateIgnored, .debug, stay.state, input.event)
        case .forbid:
            report(.stateForbidden, .error, stay.state, input.event)
        }
        return nil
    }

    private func end() {
        for waiter in core.withLock({ $0.end() }) { waiter.settle(.ended) }
    }

    private func report(
        _ name: EventName, _ level: Stoic::Event.Level, _ state: State, _ event: Event? = nil
    ) {
        var fields: [Stoic::Event.Field] = [
            .init("label", table.label), .init("state", "\(state)"),
        ]
        if let event { fields.append(.init("event", "\(event)")) }
        emit(name, level, fields)
    }
}

// What a state owns while the machine is in it.
extension StateMachine {
    private struct Stay {
        let state: State
        let generation: UInt64
        let timers: [Task<Void, Never>]
        let work: StateTask?
    }

    private func enter(_ state: State, _ clock: AnyClock) -> Stay {
        let (generation, waiters) = core.withLock { $0.enter(state) }
        report(.stateEntered, .info, state)
        for waiter in waiters { waiter.settle(.entered(state)) }
        let timers = table.timeouts[state, default: []].map { timeout in
            let deadline = Deadline.in(timeout.duration, clock: clock)
            return spawn { [self] in
                guard await deadline.sleep() else { return }
                post(timeout.event, generation)
            }
        }
        let work = table.works[state].map { work in
            StateTask("\(table.label) \(state)", leaveTimeout: work.leaveTimeout, clock) { [self] in
                do {
                    if let event = try await work.body(self) { post(event, generation) }
                } catch {
                    guard !(error is CancellationError && Task.isCancelled) else { throw error }
                    workFailed(error, in: state)
                    post(work.failed, generation)
                    throw error
                }
            }
        }
        return Stay(state: state, generation: generation, timers: timers, work: work)
    }

    private nonisolated(nonsending) func leave(_ stay: Stay, _ cause: CancellationCause) async {
        for timer in stay.timers { timer.cancel() }
        if let work = stay.work, await work.stop(cause) {
            report(.stateWorkAbandoned, .warning, stay.state)
        }
        report(.stateLeft, .info, stay.state)
    }

    private func post(_ event: Event, _ generation: UInt64) {
        core.withLock { $0.add(event, of: generation) }?.settle(true)
    }

    private func workFailed(_ error: any Error, in state: State) {
        emit(
            .stateWorkFailed, Classifier.isDefect(error) ? .error : .notice,
            [
                .init("label", table.label), .init("state", "\(state)"),
                .init("error", describing: error),
            ])
    }
}

/// More events were sent to a state machine than it can keep.
public struct EventQueueFull: Defect, Hashable, Sendable {
    /// The machine.
    public let label: String
}

/// A state machine ended without coming to a state somebody waited for.
public struct StateMachineEnded: Error, Hashable, Sendable {}

extension EventName {
    /// A state machine is in a state. Fields: `label`, `state`.
    public static let stateEntered = EventName("state.entered")
    /// A state machine has left a state, and the state's work has ended. Fields: `label`, `state`.
    public static let stateLeft = EventName("state.left")
    /// An event means nothing in this state. Fields: `label`, `state`, `event`.
    public static let stateIgnored = EventName("state.ignored")
    /// An event must not come in this state, and was dropped. Fields: `label`, `state`, `event`.
    public static let stateForbidden = EventName("state.forbidden")
    /// A timeout, or the end of work, of a state that has been left. Fields: `label`, `state` (the
    /// present one), `event`.
    public static let stateStale = EventName("state.stale")
    /// A state's work threw. Fields: `label`, `state`, `error`.
    public static let stateWorkFailed = EventName("state.workFailed")
    /// A state's work ignored its cancellation, and was left behind. Fields: `label`, `state`.
    public static let stateWorkAbandoned = EventName("state.workAbandoned")
    /// An event found too many before it, and was refused. Fields: `label`, `event`.
    public static let stateOverflowed = EventName("state.overflowed")
}
