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
        arguments: shortBounds + (isLong ? longBounds : []), [false, true])
    func everyInterleaving(bound: Bound, parallel: Bool) async {
        var total = Exploration.Count()
        for edges in SmallGraph.all(bound.services) {
            await explore(edges, bound, parallel, &total)
        }
        print("\(bound), \(parallel ? "parallel" : "reverse"): \(total)")
        #expect(total.states > 0)
    }

    @Test("LIF-3: every policy keeps the invariants", arguments: Variation.all)
    func everyPolicy(variation: Variation) async {
        var total = Exploration.Count()
        // An open channel doubles the states of its service.
        let commands = variation.opensChannel ? 0 : 1
        let short = [
            Bound(services: 1, faults: 2, commands: 1, verbs: .all, triesStaleEvents: true),
            Bound(services: 2, faults: 1, commands: commands, verbs: .all),
        ]
        let long = [
            Bound(services: 1, faults: 2, commands: 2, verbs: .all, triesStaleEvents: true),
            Bound(services: 2, faults: 1, commands: 1, verbs: .all),
            Bound(services: 3, faults: 1, commands: 0, verbs: .endOnly),
        ]
        for bound in Self.isLong ? long : short { await explore(variation, bound, &total) }
        print("\(variation): \(total)")
        #expect(total.states > 0)
    }

    @Test("LIF-3: every policy about needs, among three services", arguments: Variation.ofNeeds)
    func everyPolicyOfNeeds(variation: Variation) async {
        var total = Exploration.Count()
        let bound = Bound(services: 3, faults: 1, commands: 0, verbs: .endOnly)
        await explore(variation, bound, &total)
        print("\(variation), three services: \(total)")
        #expect(total.states > 0)
    }

    static let shortPlanBounds = [
        Bound(services: 1, faults: 1, commands: 2, verbs: .all),
        Bound(services: 2, faults: 1, commands: 1, verbs: .all),
    ]
    static let longPlanBounds = [
        Bound(services: 1, faults: 2, commands: 2, verbs: .plansOnly),
        Bound(services: 1, faults: 1, commands: 3, verbs: .all),
        Bound(services: 2, faults: 1, commands: 2, verbs: .plansOnly),
        Bound(services: 3, faults: 1, commands: 1, verbs: .plansOnly),
    ]

    @Test(
        "LIF-3: every plan keeps the invariants",
        arguments: shortPlanBounds + (isLong ? longPlanBounds : []))
    func everyPlan(bound: Bound) async {
        var total = Exploration.Count()
        for edges in SmallGraph.all(bound.services) {
            let specs = Exploration.specs(edges: edges, services: bound.services)
            let plans = SmallPlan.all(specs)
            for parallel in [false, true] {
                await explore(edges, bound, parallel, &total, (nil, 0, plans))
            }
        }
        print("plans, \(bound): \(total)")
        #expect(total.states > 0)
    }

    private func explore(
        _ variation: Variation, _ bound: Bound, _ total: inout Exploration.Count
    ) async {
        for edges in SmallGraph.all(bound.services) {
            for service in 0..<bound.services {
                for parallel in [false, true] {
                    await explore(edges, bound, parallel, &total, (variation, service, []))
                }
            }
        }
    }

    @Test("what is explored is every shape of graph", arguments: [(1, 1), (2, 2), (3, 6), (4, 31)])
    func shapes(services: Int, shapes: Int) {
        #expect(SmallGraph.all(services).count == shapes)
    }

    private func explore(
        _ edges: [(Int, Int)], _ bound: Bound, _ parallel: Bool,
        _ total: inout Exploration.Count,
        _ change: (variation: Variation?, service: Int, plans: [Plan]) = (nil, 0, [])
    ) async {
        // Other tests share our threads, and their time is limited.
        await Task.yield()
        var allowance = bound.allowance
        allowance.plans = change.plans
        var exploration = Exploration(
            edges: edges, services: bound.services, parallel: parallel
        ) { change.variation?.vary(&$0[change.service]) }
        if change.variation?.opensChannel == true {
            exploration.start.opensChannel = change.service
        }
        exploration.triesStaleEvents = bound.triesStaleEvents
        exploration.run(allowance)
        total += exploration.count
        guard let failure = exploration.failure else { return }
        let varied = change.variation.map { "\($0) on \(change.service)" } ?? "nothing"
        Issue.record("\(edges) parallel: \(parallel), varied: \(varied)\n\(failure)")
    }
}
