import Simulation
import Stoic
import Testing

@Suite("Simulation, shrinking", .timeLimit(.minutes(5)))
struct ShrinkingTests {
    /// A claim that stands for a broken rule: no service whose need restarts may be ready.
    private static let planted: @Sendable (LifecycleMachine) -> String? = { machine in
        for id in machine.services {
            guard case .up(_, .ready) = machine.state(of: id) else { continue }
            for need in machine.spec(of: id).needs {
                guard let target = machine.service(named: need.service) else { continue }
                if case .backingOff = machine.state(of: target) {
                    return "\(machine.spec(of: id).name) is ready while \(need.service) is not"
                }
            }
        }
        return nil
    }

    @Test("SIM-3: what breaks a rule is reduced to the services and incidents it takes")
    func shrinks() throws {
        var scenario = try #require(
            (1...200).lazy.map { seed in
                var scenario = RandomScenario.of(seed: UInt64(seed), most: 12)
                scenario.claim = Self.planted
                return scenario
            }.first { scenario in
                do { return try !scenario.run().violations.isEmpty } catch { return false }
            })
        scenario.incidents.append(Incident(.machineSleeps(.seconds(5)), at: .seconds(100)))
        let shrinking = Shrinking(scenario)
        #expect(shrinking.violations.count == 1)
        #expect(shrinking.smallest.specs.count == 2, "one, and what it needs")
        #expect(shrinking.smallest.incidents.count <= 1)
        #expect(shrinking.tries <= shrinking.mostTries)
        let again = try shrinking.smallest.run()
        #expect(again.violations == shrinking.violations, "it shows the same again")
    }

    @Test("SIM-3: a scenario that breaks nothing stays as it is")
    func sound() {
        let scenario = RandomScenario.of(seed: 3)
        let shrinking = Shrinking(scenario)
        #expect(shrinking.violations == [] && shrinking.tries == 0)
        #expect(shrinking.smallest.incidents == scenario.incidents)
    }

    @Test("SIM-3: the number of tries is bounded")
    func bounded() {
        var scenario = RandomScenario.of(seed: 5, most: 30)
        scenario.claim = { _ in "always" }
        let shrinking = Shrinking(scenario, mostTries: 4)
        #expect(shrinking.tries == 4 && !shrinking.violations.isEmpty)
    }
}
