package import Stoic

/// Reduces a scenario that breaks an invariant to one that still does, with as few incidents and
/// services as can be found by leaving out one thing after the other.
package struct Shrinking: Sendable {
    /// The smallest scenario found so far.
    package private(set) var smallest: Scenario
    /// What it breaks, in words.
    package private(set) var violations: [String]
    /// How many scenarios were tried.
    package private(set) var tries = 0
    /// More are not: a scenario of a thousand services would take for ever.
    package let mostTries: Int

    /// Reduces `scenario` at once, if it breaks an invariant.
    package init(_ scenario: Scenario, mostTries: Int = 3_000) {
        smallest = scenario
        violations = Self.violations(of: scenario)
        self.mostTries = mostTries
        guard !violations.isEmpty else { return }
        var goesOn = true
        while goesOn, tries < mostTries {
            goesOn = false
            if dropIncidents() { goesOn = true }
            if dropServices() { goesOn = true }
            if dropNeeds() { goesOn = true }
            if plain() { goesOn = true }
        }
    }

    private static func violations(of scenario: Scenario) -> [String] {
        do { return try scenario.run().violations } catch {
            // What is no graph any more is no scenario.
            return []
        }
    }

    /// Takes `candidate` for the smallest if it still breaks an invariant.
    private mutating func take(_ candidate: Scenario) -> Bool {
        guard tries < mostTries else { return false }
        tries += 1
        let found = Self.violations(of: candidate)
        guard !found.isEmpty else { return false }
        smallest = candidate
        violations = found
        return true
    }

    private mutating func dropIncidents() -> Bool {
        var hasShrunk = false
        for index in smallest.incidents.indices.reversed() {
            var candidate = smallest
            candidate.incidents.remove(at: index)
            if take(candidate) { hasShrunk = true }
        }
        return hasShrunk
    }

    private mutating func dropServices() -> Bool {
        var hasShrunk = false
        for name in smallest.specs.reversed().map(\.name) where smallest.specs.count > 1 {
            if take(smallest.without(name)) { hasShrunk = true }
        }
        return hasShrunk
    }

    private mutating func dropNeeds() -> Bool {
        var hasShrunk = false
        for index in smallest.specs.indices {
            for need in smallest.specs[index].needs.indices.reversed() {
                var candidate = smallest
                candidate.specs[index].needs.remove(at: need)
                if take(candidate) { hasShrunk = true }
            }
        }
        return hasShrunk
    }

    /// Policies and behaviours become what they are by default, needs what they are when only
    /// named, and moments whole seconds.
    private mutating func plain() -> Bool {
        var hasShrunk = false
        func attempt(_ change: (inout Scenario) -> Bool) {
            var candidate = smallest
            if change(&candidate), take(candidate) { hasShrunk = true }
        }
        for index in smallest.specs.indices {
            for step in PlainStep.allCases { attempt { step.apply(&$0, index) } }
        }
        for index in smallest.incidents.indices {
            attempt { scenario in
                let at = scenario.incidents[index].at
                let whole = Duration.seconds(at.components.seconds)
                scenario.incidents[index].at = whole
                return whole != at && whole > .zero
            }
        }
        attempt { scenario in
            defer { scenario.exitBudget = .seconds(30) }
            return scenario.exitBudget != .seconds(30)
        }
        return hasShrunk
    }
}

/// One way to make a service plainer. Each answers whether it changed anything.
private enum PlainStep: CaseIterable {
    case policies, restart, needs, ladder, behaviour

    func apply(_ scenario: inout Scenario, _ index: Int) -> Bool {
        let spec = scenario.specs[index]
        let plain = ServiceSpec(spec.name, kind: spec.kind, readiness: spec.readiness)
        switch self {
        case .policies:
            var whole = plain
            whole.needs = spec.needs
            scenario.specs[index] = whole
        case .restart: scenario.specs[index].restart = plain.restart
        case .needs:
            scenario.specs[index].needs = spec.needs.map { Need($0.service) }
        case .ladder: scenario.specs[index].ladder = plain.ladder
        case .behaviour:
            let usual = Behaviour(of: scenario.specs[index])
            guard scenario.behaviours[spec.name] != usual else { return false }
            scenario.behaviours[spec.name] = usual
            return true
        }
        return scenario.specs[index] != spec
    }
}

extension Scenario {
    /// The same without a service, and without what needs it or befalls it.
    package func without(_ name: ServiceName) -> Scenario {
        var copy = self
        copy.specs = specs.filter { $0.name != name }.map { spec in
            var spec = spec
            spec.needs.removeAll { $0.service == name }
            return spec
        }
        copy.behaviours[name] = nil
        copy.incidents.removeAll { $0.what.service == name }
        return copy
    }
}
