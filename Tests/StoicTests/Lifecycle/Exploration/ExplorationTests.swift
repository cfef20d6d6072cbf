import Glibc
import Testing

@testable import Stoic

/// Every graph of up to four services, under every order of events within a bound of faults and
/// commands, against the invariants. Isomorphic graphs are explored once.
@Suite("LifecycleMachine, every interleaving", .timeLimit(.minutes(5)))
struct ExplorationTests {
    /// `ORCHESTRATOR_EXPLORE=N` walks the long bounds too, and allows N more faults in every walk.
    static let extraFaults =
        unsafe getenv("ORCHESTRATOR_EXPLORE").flatMap {
            Int(unsafe String(cString: $0))
        } ?? 0

    struct Bound: Sendable, CustomStringConvertible {
        let services: Int
        let faults: Int
        let commands: Int
        let verbs: Allowance.Verbs
        var triesStaleEvents = false
        var description: String {
            "\(services) services, \(faults) faults, \(commands) commands (\(verbs))"
        }
        var allowance: Allowance {
            Allowance(faults: faults + extraFaults, commands: commands, verbs: verbs)
        }
    }

    /// What every run explores, in about a minute on two cores.
    static let shortBounds = [
        Bound(services: 1, faults: 3, commands: 2, verbs: .all, triesStaleEvents: true),
        Bound(services: 2, faults: 1, commands: 1, verbs: .all, triesStaleEvents: true),
        Bound(services: 3, faults: 1, commands: 0, verbs: .endOnly),
        Bound(services: 4, faults: 1, commands: 0, verbs: .endOnly),
    ]

    /// What `ORCHESTRATOR_EXPLORE` adds, whatever it says.
    static let longBounds = [
        Bound(services: 2, faults: 2, commands: 1, verbs: .all),
        Bound(services: 2, faults: 1, commands: 2, verbs: .all),
        Bound(services: 3, faults: 1, commands: 1, verbs: .endOnly),
        Bound(services: 3, faults: 2, commands: 0, verbs: .endOnly),
    ]

    /// Whether the long walks are asked for.
    static let isLong = unsafe getenv("ORCHESTRATOR_EXPLORE") != nil

    @Test(
        "LIF-3: every interleaving keeps the invariants",
        arguments: shortBounds + (isLong ? longBounds : []))
    func everyInterleaving(bound: Bound) {
        var total = Exploration.Count()
        for edges in SmallGraph.all(bound.services) {
            explore(edges, bound, &total)
        }
        print("\(bound): \(total)")
        #expect(total.states > 0)
    }

    @Test("LIF-3: every policy keeps the invariants", arguments: Variation.all)
    func everyPolicy(variation: Variation) {
        var total = Exploration.Count()
        let short = [
            Bound(services: 1, faults: 2, commands: 1, verbs: .all, triesStaleEvents: true),
            Bound(services: 2, faults: 1, commands: 0, verbs: .endOnly),
        ]
        let long = [
            Bound(services: 1, faults: 2, commands: 2, verbs: .all, triesStaleEvents: true),
            Bound(services: 2, faults: 1, commands: 1, verbs: .all),
            Bound(services: 3, faults: 1, commands: 0, verbs: .endOnly),
        ]
        let bounds = Self.isLong ? long : short
        for bound in bounds {
            for edges in SmallGraph.all(bound.services) {
                for service in 0..<bound.services {
                    explore(edges, bound, &total, variation, on: service)
                }
            }
        }
        print("\(variation): \(total)")
        #expect(total.states > 0)
    }

    @Test("what is explored is every shape of graph", arguments: [(1, 1), (2, 2), (3, 6), (4, 31)])
    func shapes(services: Int, shapes: Int) {
        #expect(SmallGraph.all(services).count == shapes)
    }

    private func explore(
        _ edges: [(Int, Int)], _ bound: Bound, _ total: inout Exploration.Count,
        _ variation: Variation? = nil, on service: Int = 0
    ) {
        for parallel in [false, true] {
            var exploration = Exploration(
                edges: edges, services: bound.services, parallel: parallel
            ) { variation?.vary(&$0[service]) }
            if variation?.opensChannel == true { exploration.start.opensChannel = service }
            exploration.triesStaleEvents = bound.triesStaleEvents
            exploration.run(bound.allowance)
            total += exploration.count
            guard let failure = exploration.failure else { continue }
            Issue.record("\(edges) parallel: \(parallel), varied: \(service)\n\(failure)")
            return
        }
    }
}
