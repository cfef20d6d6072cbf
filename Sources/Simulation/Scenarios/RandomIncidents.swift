package import Stoic

/// Incidents drawn from a seed.
package struct RandomIncidents: Sendable {
    private let specs: [ServiceSpec]
    private var random: RandomSource

    /// What can befall services of `specs` under this seed.
    package init(_ specs: [ServiceSpec], seed: UInt64) {
        self.specs = specs
        random = RandomSource.seeded(seed)
    }

    /// One to four incidents within two minutes, and a stop of the project at some moment of a
    /// third of the runs.
    package mutating func draw() -> [Incident] {
        guard !specs.isEmpty else { return [] }
        var incidents = (0..<number(1...4)).map { _ in one() }
        if number(0...2) == 0 { incidents.append(Incident(.stop, at: moment())) }
        if number(0...9) == 0 { incidents.append(Incident(.force, at: moment())) }
        return incidents
    }

    private mutating func one() -> Incident {
        let spec = specs[number(0...(specs.count - 1))]
        let name = spec.name
        switch number(0...15) {
        case 0, 1: return Incident(.kill(name), at: moment())
        case 2: return Incident(.exit(name, Int32(number(0...1))), at: moment())
        case 3: return Incident(.hang(name), at: momentOrBegin())
        case 4: return Incident(.slowStart(name, share(of: spec.startTimeout)), at: .zero)
        case 5: return Incident(.slowStop(name, share(of: spec.stopTimeout)), at: momentOrBegin())
        case 6: return Incident(.ignoreTerm(name), at: momentOrBegin())
        case 7: return Incident(.escape(name), at: momentOrBegin())
        case 8: return Incident(.unkillable(name), at: momentOrBegin())
        case 9: return Incident(.failLaunch(name, number(1...3)), at: .zero)
        case 10: return Incident(.unready(name), at: moment())
        case 11: return Incident(.lie(name), at: momentOrBegin())
        case 12: return Incident(.flood(name), at: moment())
        case 13: return Incident(.machineSleeps(.seconds(number(1...600))), at: moment())
        case 14: return Incident(.pause(.seconds(number(1...60))), at: moment())
        default:
            let requests = Incident.What.Request.allCases
            return Incident(.ask(requests[number(0...(requests.count - 1))], name), at: moment())
        }
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &random)
    }

    /// Half of the moments lie within the first two seconds, where most starts are under way.
    private mutating func moment() -> Duration {
        number(0...1) == 0
            ? .milliseconds(100 * number(1...20)) : .milliseconds(500 * number(1...240))
    }

    private mutating func momentOrBegin() -> Duration {
        number(0...1) == 0 ? .zero : moment()
    }

    /// From a tenth of a limit to twice as much.
    private mutating func share(of limit: Duration) -> Duration {
        let milliseconds = Int(min(limit, .seconds(3_600)) / .milliseconds(100))
        return .milliseconds(10 * max(milliseconds, 1) * number(1...20))
    }
}

extension Scenario {
    /// The same services under incidents of this seed, and its jitter.
    package func withIncidents(seed: UInt64) -> Scenario {
        var copy = self
        var source = RandomIncidents(specs, seed: seed)
        copy.incidents = incidents + source.draw()
        copy.seed = seed
        return copy
    }
}
