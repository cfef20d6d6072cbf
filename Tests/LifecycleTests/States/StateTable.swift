import Simulation

@testable import Stoic

/// A brain with one service, `s`, in the state under test. `s` needs `n`, and runs on without it no
/// longer than it must (`onNeedLost: wait`). `o` has nothing to do with it and keeps the project
/// alive.
struct StateTable {
    private(set) var machine: LifecycleMachine
    private let specs: [ServiceSpec]
    /// What was decided since the last `answer`, for `s` and for the project.
    private var verdicts: [String] = []
    private var lastLife = Incarnation(99)

    /// - Parameter hasDependent: Adds `d`, which needs `s`.
    init(hasDependent: Bool = false, _ vary: (inout ServiceSpec) -> Void = { _ in }) {
        var subject = ServiceSpec(
            "s", needs: [Need("n", onNeedLost: .wait)], readiness: .reported)
        subject.restart.backoff = .spaced(.seconds(1))
        subject.watchdog = .seconds(5)
        subject.liveThreshold = 2
        vary(&subject)
        var specs = [ServiceSpec("n", readiness: .reported), subject, ServiceSpec("o")]
        if hasDependent { specs.append(ServiceSpec("d", needs: [Need("s")])) }
        self.specs = specs
        do {
            machine = try LifecycleMachine(
                specs, settings: LifecycleMachine.Settings(random: .seeded(1)))
        } catch {
            preconditionFailure("\(error)")
        }
    }

    var subject: ServiceID { ServiceID(slot: 1) }

    /// The incarnation `s` is in, or was in.
    var life: Incarnation { machine.nodes[1].state.incarnation ?? lastLife }

    // MARK: Events

    mutating func send(_ event: LifecycleEvent) {
        var output = LifecycleOutput()
        if let life = machine.nodes[1].state.incarnation { lastLife = life }
        machine.handle(event, at: CheckedMachine.moment, into: &output)
        note(output)
    }

    mutating func command(_ verb: Command.Verb) { send(.command(Command(verb, by: "test"))) }
    mutating func say(_ fact: MessageFact) { send(.message(life, fact)) }
    mutating func process(_ fact: ProcessFact) { send(.process(life, fact)) }
    mutating func fire(_ timer: TimerID) { send(.timer(.fired(timer))) }

    mutating func plan(_ change: (inout [ServiceSpec]) -> Void) {
        var changed = specs
        change(&changed)
        do { command(.plan(try Plan(changed))) } catch { preconditionFailure("\(error)") }
    }

    /// A need that is met comes true first, where it was not.
    mutating func need(_ fact: NeedEvent.Fact) {
        if fact == .met, case .starting(let life, _) = machine.nodes[0].state {
            send(.process(life, .launched))
            return send(.message(life, .ready))
        }
        var turn = Turn(now: CheckedMachine.moment)
        machine.deliver(NeedEvent(slot: 1, need: 0, fact: fact, cause: nil), &turn)
        machine.settle(&turn)
        note(turn.output)
    }

    // MARK: Into the state under test

    /// `up`, and `o` is launched; `n` is not.
    mutating func upWithoutNeed() {
        command(.up)
        launch(2)
    }

    /// `up`, and `n` and `o` are ready: `s` is being launched.
    mutating func bringUpOthers() {
        upWithoutNeed()
        guard let life = launch(0) else { return }
        send(.message(life, .ready))
    }

    mutating func bringUp() {
        bringUpOthers()
        process(.launched)
        say(.ready)
    }

    mutating func stop() { command(.stop([subject])) }

    /// `s` ends, tree and all.
    mutating func end(_ status: ExitStatus) {
        process(.mainExited(status))
        process(.treeEmpty)
    }

    mutating func crash() { end(.code(1)) }

    /// A restart of `s`, which is deaf to SIGTERM.
    mutating func restartDeaf() {
        command(.restart([subject]))
        fire(.kill(life))
    }

    /// `s` is asked to stop while `d`, which needs it, is still alive.
    mutating func queue(_ phase: StopRung.PhaseBeforeStop) {
        bringUp()
        launch(3)
        switch phase {
        case .up: break
        case .launching, .probing:
            crash()
            fire(.backoff(subject))
            if phase == .probing { process(.launched) }
        }
        stop()
    }

    @discardableResult
    private mutating func launch(_ slot: Int) -> Incarnation? {
        guard let life = machine.nodes[slot].state.incarnation else { return nil }
        send(.process(life, .launched))
        return life
    }

    // MARK: One event

    /// What `kind` leads to: `=` when the state stays, else the new one; then the verdicts about
    /// `s` and the project.
    mutating func answer(to kind: EventKind) -> String {
        let before = machine.nodes[1].state
        verdicts = []
        take(kind)
        let after = machine.nodes[1].state
        let moved = before == after ? "=" : after.inShort
        return ([moved] + verdicts).joined(separator: " ")
    }

    private mutating func note(_ output: LifecycleOutput) {
        verdicts += output.decisions.filter { $0.service == nil || $0.service == subject }.map {
            let name = $0.what.name
            return name.hasPrefix("service.") ? String(name.dropFirst(8)) : name
        }
    }
}
