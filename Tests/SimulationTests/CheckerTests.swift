import Simulation
import Testing

@testable import Stoic

/// A checker that sees nothing proves nothing: each fault here is put between the brain and the
/// checker, as if the brain had made it.
@Suite("Simulation, the checker", .timeLimit(.minutes(1)))
struct CheckerTests {
    /// A fault of the brain: what it does to the output of every event.
    struct Fault: Sendable, CustomStringConvertible {
        let description: String
        let finds: String
        let spoil: @Sendable (inout LifecycleOutput) -> Void
    }

    static let faults = [
        Fault(description: "no bound of a start", finds: "without its timers") { output in
            output.effects.removeAll {
                if case .arm(.start, _, _) = $0.action { true } else { false }
            }
        },
        Fault(description: "a signal to nobody", finds: "which does not live") { output in
            guard let effect = output.effects.first else { return }
            output.effects.append(
                LifecycleEffect(
                    decision: effect.decision,
                    action: .signal(Incarnation(99), 15, .group)))
        },
        Fault(description: "two launches", finds: "live at once") { output in
            for effect in output.effects {
                guard case .launch(let id, _) = effect.action else { continue }
                output.effects.append(
                    LifecycleEffect(
                        decision: effect.decision, action: .launch(id, Incarnation(99))))
            }
        },
        Fault(description: "an early end", finds: "the project ended while") { output in
            guard let effect = output.effects.first, case .launch = effect.action else { return }
            let outcome = ProjectOutcome(
                cause: .allEnded, failed: [], abandoned: [], wasForced: false)
            output.effects.append(
                LifecycleEffect(decision: effect.decision, action: .endProject(outcome)))
        },
        Fault(description: "a lost decision", finds: "a decision is missing") { output in
            if output.decisions.count > 1 { output.decisions.removeFirst() }
        },
        Fault(description: "silence", finds: "no decision") { $0.decisions = [] },
        Fault(description: "a release of what lives", finds: "is released alive") { output in
            guard let effect = output.effects.first, case .launch(_, let life) = effect.action
            else { return }
            output.effects.append(
                LifecycleEffect(decision: effect.decision, action: .release(life)))
        },
    ]

    @Test("SIM-12: a fault of the brain is found and named", arguments: faults)
    func finds(fault: Fault) throws {
        var machine = try LifecycleMachine([ServiceSpec("a", readiness: .reported)])
        var checker = InvariantChecker(machine)
        let now = SimulatedHost.begin
        let life = Incarnation(1)
        let events: [LifecycleEvent] = [
            .command(Command(.up, by: "test")), .process(life, .launched),
            .message(life, .ready),
        ]
        for event in events {
            checker.expect(event, machine)
            var output = LifecycleOutput()
            machine.handle(event, at: now, into: &output)
            fault.spoil(&output)
            checker.judge(output, machine, at: now)
        }
        #expect(
            checker.violations.contains { $0.contains(fault.finds) }, "\(checker.violations)")
    }

    @Test("SIM-12: a stop that takes longer than its budget is found")
    func budget() throws {
        let settings = LifecycleMachine.Settings(exitBudget: .seconds(5))
        var machine = try LifecycleMachine([ServiceSpec("a")], settings: settings)
        var checker = InvariantChecker(machine)
        var now = SimulatedHost.begin
        func send(_ event: LifecycleEvent) {
            checker.expect(event, machine)
            var output = LifecycleOutput()
            machine.handle(event, at: now, into: &output)
            checker.judge(output, machine, at: now)
        }
        let life = Incarnation(1)
        send(.command(Command(.up, by: "test")))
        send(.process(life, .launched))
        send(.command(Command(.stopProject(.requested("test")), by: "test")))
        now = now.advanced(by: .seconds(7))
        send(.process(life, .mainExited(.code(0))))
        send(.process(life, .treeEmpty))
        #expect(checker.isOver)
        #expect(checker.violations.contains { $0.hasPrefix("the stop took 2.0 seconds more") })
    }

    @Test("SIM-13: no more violations are kept than say something")
    func bounded() throws {
        let machine = try LifecycleMachine([ServiceSpec("a")])
        var checker = InvariantChecker(machine)
        for _ in 0..<100 { checker.judge(LifecycleOutput(), machine, at: SimulatedHost.begin) }
        #expect(checker.violations.count == InvariantChecker.mostViolations)
    }
}
