/// All that a state machine may do: for every state and every event where it leads, or that it is
/// ignored, or that it is forbidden.
///
/// Nothing is left out: a pair without a rule is an error when the table is made. Final states need
/// no rules; the machine ends in them.
///
/// ```swift
/// enum Link: CaseIterable { case down, connecting, up, closed }
/// enum Signal: CaseIterable { case connect, connected, lost, close }
/// let table = try TransitionTable<Link, Signal>(
///     "link", initial: .down, final: [.closed],
///     [
///         .move(from: [.down], on: [.connect], to: .connecting),
///         .move(from: [.connecting], on: [.connected], to: .up),
///         .move(from: [.connecting, .up], on: [.lost], to: .down),
///         .move(from: [.down, .connecting, .up], on: [.close], to: .closed),
///         .ignore([.connect], in: [.connecting, .up]),
///         .ignore([.lost], in: [.down]),
///         .forbid([.connected], in: [.down, .up]),
///         .timeout(after: .seconds(10), in: [.connecting], send: .lost),
///         .work(in: .connecting, failed: .lost) { _ in
///             try await dial()
///             return .connected
///         },
///     ])
/// ```
public struct TransitionTable<State, Event>: Sendable
where
    State: Hashable & CaseIterable & Sendable, Event: Hashable & CaseIterable & Sendable
{
    /// What an event means in a state.
    public enum Answer: Hashable, Sendable {
        /// It leads to this state.
        case move(to: State)
        /// It means nothing.
        case ignore
        /// It must not come.
        case forbid
    }

    /// A line of a table.
    public typealias Row = TransitionRow<State, Event>

    struct Rule: Sendable {
        let answer: Answer
        let effect: Row.Effect?
    }

    struct Timeout: Sendable {
        let duration: Duration
        let event: Event
    }

    struct Pair: Hashable {
        let state: State
        let event: Event
    }

    /// What the machine is called in events.
    public let label: String
    /// Where it begins.
    public let initial: State
    /// Where it ends.
    public let final: Set<State>
    /// States that no move leads to, in the order they are declared. They are reported.
    public let unreachable: [State]
    /// States that no move leads out of and that are not final, in the order they are declared.
    /// They are reported.
    public let sinks: [State]
    let rules: [Pair: Rule]
    let works: [State: Row.StateWork]
    let timeouts: [State: [Timeout]]

    /// - Parameters:
    ///   - label: What the machine is called in events.
    ///   - initial: Where it begins.
    ///   - final: Where it ends.
    ///   - rows: What it may do, in any order.
    /// - Throws: `TransitionTableError` with every mistake in it.
    public init(
        _ label: String = "machine", initial: State, final: Set<State> = [], _ rows: [Row]
    ) throws(TransitionTableError) {
        var draft = Draft()
        for row in rows { draft.add(row) }
        let mistakes = draft.mistakes(initial: initial, final: final)
        guard mistakes.isEmpty else { throw TransitionTableError(mistakes) }
        self.label = label
        self.initial = initial
        self.final = final
        rules = draft.rules
        works = draft.works
        timeouts = draft.timeouts
        let targets = draft.targets
        let reached = Self.reached(from: initial, by: targets)
        unreachable = State.allCases.filter { !reached.contains($0) }
        sinks = State.allCases.filter { state in
            !final.contains(state) && targets[state, default: []].allSatisfy { $0 == state }
        }
        report(.stateUnreachable, unreachable)
        report(.stateSink, sinks)
    }

    /// What `event` means in `state`. In a final state nothing means anything.
    public func answer(to event: Event, in state: State) -> Answer {
        rules[Pair(state: state, event: event)]?.answer ?? .ignore
    }

    private func report(_ name: EventName, _ states: [State]) {
        guard !states.isEmpty else { return }
        let list = states.map { "\($0)" }.joined(separator: ", ")
        emit(name, .warning, [.init("label", label), .init("states", list)])
    }

    private static func reached(from initial: State, by targets: [State: Set<State>]) -> Set<State>
    {
        var reached: Set<State> = [initial]
        var open = [initial]
        while let state = open.popLast() {
            for target in targets[state, default: []] where reached.insert(target).inserted {
                open.append(target)
            }
        }
        return reached
    }
}

extension TransitionTable {
    /// A table that is being read.
    private struct Draft {
        var rules: [Pair: Rule] = [:]
        var works: [State: Row.StateWork] = [:]
        var timeouts: [State: [Timeout]] = [:]
        private var doubled: [String] = []
        private var other: [String] = []

        mutating func add(_ row: Row) {
            switch row.content {
            case .rule(let states, let events, let answer, let effect):
                let rule = Rule(answer: answer, effect: effect)
                for state in states { add(rule, state, on: events) }
            case .work(let state, let work):
                if works.updateValue(work, forKey: state) != nil {
                    other.append("two pieces of work in \(state)")
                }
            case .timeout(let states, let duration, let event):
                for state in states {
                    if duration <= .zero { other.append("a timeout of no time in \(state)") }
                    timeouts[state, default: []].append(Timeout(duration: duration, event: event))
                }
            }
        }

        private mutating func add(_ rule: Rule, _ state: State, on events: [Event]) {
            for event in events {
                let isNew = rules.updateValue(rule, forKey: Pair(state: state, event: event)) == nil
                if !isNew { doubled.append("\(state) × \(event)") }
            }
        }

        /// Where each state's moves lead.
        var targets: [State: Set<State>] {
            var targets: [State: Set<State>] = [:]
            for (pair, rule) in rules {
                guard case .move(let target) = rule.answer else { continue }
                targets[pair.state, default: []].insert(target)
            }
            return targets
        }

        func mistakes(initial: State, final: Set<State>) -> [String] {
            var mistakes: [String] = []
            for state in State.allCases where !final.contains(state) {
                for event in Event.allCases where rules[Pair(state: state, event: event)] == nil {
                    mistakes.append("no rule for \(state) × \(event)")
                }
            }
            mistakes += doubled.map { "two rules for \($0)" } + other
            for state in State.allCases where final.contains(state) {
                let isRuled = rules.keys.contains { $0.state == state }
                if isRuled || works[state] != nil || timeouts[state] != nil {
                    mistakes.append("the final state \(state) has rules, work or timeouts")
                }
            }
            if final.contains(initial) { mistakes.append("it begins in a final state") }
            return mistakes
        }
    }
}

/// What is wrong with a transition table, all of it.
public struct TransitionTableError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Each in a few words, such as "no rule for closed × lock".
    public let mistakes: [String]

    init(_ mistakes: [String]) { self.mistakes = mistakes }

    public var description: String {
        "cannot make the transition table: " + mistakes.joined(separator: "; ")
    }
}

extension EventName {
    /// A new table has states that no move leads to. Fields: `label`, `states`.
    public static let stateUnreachable = EventName("state.unreachable")
    /// A new table has states that cannot be left and are not final. Fields: `label`, `states`.
    public static let stateSink = EventName("state.sink")
}
