/// One line of a transition table.
///
/// Lines are made by `move`, `ignore`, `forbid`, `work` and `timeout`. Each rule is about every
/// event it names in every state it names.
public struct TransitionRow<State, Event>: Sendable
where
    State: Hashable & CaseIterable & Sendable, Event: Hashable & CaseIterable & Sendable
{
    /// What a state does while the machine is in it.
    ///
    /// It gets the machine, to send it events on the way. What it returns is sent as well, unless
    /// the state has been left.
    public typealias Work = @Sendable (StateMachine<State, Event>) async throws -> Event?

    enum Content: Sendable {
        case rule([State], [Event], TransitionTable<State, Event>.Answer, effect: Effect?)
        case work(State, StateWork)
        case timeout([State], Duration, Event)
    }

    typealias Effect = @Sendable () -> Void

    struct StateWork: Sendable {
        let failed: Event
        let leaveTimeout: Duration
        let body: Work
    }

    let content: Content

    /// An event leads to another state, or, if that is the same, leaves and enters it anew.
    ///
    /// - Parameters:
    ///   - states: In which states.
    ///   - events: On which events.
    ///   - target: The state it leads to.
    ///   - effect: Called after the old state's work has ended and before the new state's begins.
    ///     It must return soon; what takes time is a state's work.
    public static func move(
        from states: [State], on events: [Event], to target: State,
        effect: (@Sendable () -> Void)? = nil
    ) -> TransitionRow {
        TransitionRow(content: .rule(states, events, .move(to: target), effect: effect))
    }

    /// Events that mean nothing in these states. They are dropped.
    public static func ignore(_ events: [Event], in states: [State]) -> TransitionRow {
        TransitionRow(content: .rule(states, events, .ignore, effect: nil))
    }

    /// Events that must not come in these states. They are reported as a defect and dropped.
    public static func forbid(_ events: [Event], in states: [State]) -> TransitionRow {
        TransitionRow(content: .rule(states, events, .forbid, effect: nil))
    }

    /// What a state does while the machine is in it; one for each state.
    ///
    /// It is cancelled when the state is left, and awaited before the next state's work begins.
    /// - Parameters:
    ///   - state: The state that owns it.
    ///   - failed: The event that is sent if it throws.
    ///   - leaveTimeout: How long it may take to end after its cancellation; then it is left
    ///     behind, counted and reported.
    ///   - work: Runs beside the machine.
    public static func work(
        in state: State, failed: Event, leaveTimeout: Duration = .seconds(5), _ work: @escaping Work
    ) -> TransitionRow {
        TransitionRow(
            content: .work(
                state, StateWork(failed: failed, leaveTimeout: leaveTimeout, body: work)))
    }

    /// An event that is sent when the machine has been in a state for so long, counted anew each
    /// time the state is entered.
    public static func timeout(
        after duration: Duration, in states: [State], send event: Event
    ) -> TransitionRow {
        TransitionRow(content: .timeout(states, duration, event))
    }
}
