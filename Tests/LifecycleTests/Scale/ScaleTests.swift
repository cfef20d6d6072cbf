import Simulation
import Testing

@testable import Stoic

@Suite("LifecycleMachine, large projects", .timeLimit(.minutes(1)))
struct ScaleTests {
    @Test(
        "LIF-101: a thousand services, any policies, random faults: the invariants hold",
        arguments: 1...2)
    func randomGraphs(number: Int) {
        var project = RandomProject(services: 1_000, seed: UInt64(number))
        project.run(events: 2_000)
        let (isOver, violations) = (project.host.isOver, project.host.violations)
        #expect(violations == [], "seed \(number), event \(project.events)")
        #expect(isOver, "seed \(number), event \(project.events)")
    }

    @Test("LIF-101: small random projects, many seeds: the invariants hold", arguments: 0..<8)
    func manySeeds(block: Int) {
        for seed in (block * 100)..<(block * 100 + 100) {
            var project = RandomProject(services: 3 + seed % 20, seed: UInt64(seed))
            project.run(events: 400)
            let (isOver, violations) = (project.host.isOver, project.host.violations)
            #expect(violations == [], "seed \(seed), event \(project.events)")
            #expect(isOver, "seed \(seed), event \(project.events)")
        }
    }

    @Test("LIF-102: an event costs no more in a project of 20,000 services than in one of 200")
    func costPerEvent() {
        let small = Self.costPerEvent(services: 200)
        let large = Self.costPerEvent(services: 20_000)
        print("per event: \(small) among 200 services, \(large) among 20,000")
        // Not ten times, where a cost that grows with the project would be a hundred times.
        #expect(large < small * 10 + .microseconds(5))
    }

    /// The best of some rounds of up and down.
    private static func costPerEvent(services: Int) -> Duration {
        let rounds = services < 1_000 ? 40 : 3
        return (0..<rounds).map { _ in oneRound(services: services) }.min() ?? .century
    }

    private static func oneRound(services: Int) -> Duration {
        let specs = (0..<services).map { number in
            ServiceSpec(
                ServiceName("s\(number)"),
                needs: number.isMultiple(of: 10) ? [] : [Need(ServiceName("s\(number - 1)"))])
        }
        var driver = Driver(specs)
        let wall = ContinuousClock().measure {
            driver.command(.up)
            driver.command(.stopProject(.requested("test")))
        }
        return driver.hasEnded ? wall / driver.events : .century
    }

    /// Services that are launched at once and end at SIGTERM.
    private struct Driver {
        private(set) var events = 0
        private var machine: LifecycleMachine
        private var due: [LifecycleEvent] = []
        private var output = LifecycleOutput()

        init(_ specs: [ServiceSpec]) {
            do { machine = try LifecycleMachine(specs, settings: .init(random: .seeded(1))) } catch
            {
                preconditionFailure("\(error)")
            }
        }

        var hasEnded: Bool {
            guard case .ended = machine.phase else { return false }
            return true
        }

        mutating func command(_ verb: Command.Verb) {
            due.append(.command(Command(verb, by: "test")))
            while let event = due.popLast() { send(event) }
        }

        private mutating func send(_ event: LifecycleEvent) {
            events += 1
            output.decisions.removeAll(keepingCapacity: true)
            output.effects.removeAll(keepingCapacity: true)
            machine.handle(event, at: CheckedMachine.moment, into: &output)
            for effect in output.effects {
                switch effect.action {
                case .launch(_, let life): due.append(.process(life, .launched))
                case .signal(let life, 15, .group):
                    due.append(.process(life, .treeEmpty))
                    due.append(.process(life, .mainExited(.code(0))))
                case .watchReadiness, .endReadiness, .watchLiveness, .endLiveness, .sendStop,
                    .sendReload, .runStopCommand,
                    .signal, .signalRest, .kill, .arm, .disarm, .postpone, .release, .forget,
                    .endProject:
                    break
                }
            }
        }
    }
}
