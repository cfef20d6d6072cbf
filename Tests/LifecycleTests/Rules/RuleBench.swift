@testable import Stoic

/// A brain, a clock that a test moves, and what was decided and asked for: for tests of one rule.
struct RuleBench {
    var machine: LifecycleMachine
    var now = Instant(awake: .seconds(100), boot: .seconds(100))
    private(set) var decisions: [LifecycleDecision] = []
    private(set) var effects: [LifecycleEffect.Action] = []

    init(
        _ specs: [ServiceSpec], exitBudget: Duration = .seconds(30), parallel: Bool = false
    ) throws {
        machine = try LifecycleMachine(
            specs,
            settings: LifecycleMachine.Settings(
                exitBudget: exitBudget, stopsInParallel: parallel, random: .seeded(1)))
    }

    /// Sends one event, and forgets what earlier ones led to.
    mutating func send(_ event: LifecycleEvent, after wait: Duration = .zero) {
        now = now.advanced(by: wait)
        var output = LifecycleOutput()
        machine.handle(event, at: now, into: &output)
        decisions = output.decisions
        effects = output.effects.map(\.action)
    }

    mutating func command(_ verb: Command.Verb, after wait: Duration = .zero) {
        send(.command(Command(verb, by: "test")), after: wait)
    }

    func id(_ name: ServiceName) -> ServiceID {
        machine.service(named: name) ?? ServiceID(slot: -1)
    }

    func state(_ name: ServiceName) -> ServiceState { machine.state(of: id(name)) }

    /// The incarnation a service is in; 0 when it is in none.
    func life(_ name: ServiceName) -> Incarnation {
        state(name).incarnation ?? Incarnation(0)
    }

    /// Launches a service that is to be launched, and makes it ready where that is reported.
    mutating func bringUp(_ name: ServiceName) {
        let life = life(name)
        send(.process(life, .launched))
        if machine.spec(of: id(name)).readiness == .reported { send(.message(life, .ready)) }
    }

    /// The main process of a service ends, and its tree is empty; what both led to is kept.
    mutating func exit(_ name: ServiceName, _ status: ExitStatus, after wait: Duration = .zero) {
        let life = life(name)
        send(.process(life, .mainExited(status)), after: wait)
        let (first, acts) = (decisions, effects)
        send(.process(life, .treeEmpty))
        decisions = first + decisions
        effects = acts + effects
    }

    /// The names of the verdicts of the last event, those about `name` only if given.
    func verdicts(_ name: ServiceName? = nil) -> [String] {
        let wanted = name.map { id($0) }
        return decisions.filter { wanted == nil || $0.service == wanted }.map(\.what.name)
    }

    /// How long the timer was armed for by the last event.
    func armed(_ timer: TimerID) -> Duration? {
        for case .arm(timer, let wait, _) in effects { return wait }
        return nil
    }

    /// Services told to stop by the last event, with the signal they got.
    var signals: [Int32] {
        effects.compactMap { effect in
            guard case .signal(_, let number, _) = effect else { return nil }
            return number
        }
    }
}
