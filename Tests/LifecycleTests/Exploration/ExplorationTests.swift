import Glibc
import Simulation
import Testing

@testable import Stoic

/// Every graph of up to four services, under every order of events within a bound of faults and
/// commands, against the invariants. Isomorphic graphs are explored once.
@Suite("LifecycleMachine, every interleaving", .timeLimit(.minutes(20)))
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

    /// Ways through each graph with each policy; `ORCHESTRATOR_EXPLORE=N` takes a hundred times as
    /// many, and N times that.
    static let walks = isLong ? 200 * max(extraFaults, 1) : 2

    @Test(
        "LIF-3: any interleaving of three faults and two commands, plans included, any policy",
        arguments: [2, 3, 4], [false, true])
    func anyInterleaving(services: Int, parallel: Bool) async {
        var random = RandomSource.seeded(UInt64(services))
        var (count, transitions) = (0, 0)
        for edges in SmallGraph.all(services) {
            await Task.yield()
            let variations: [Variation?] = [nil] + Variation.all
            for (variation, service) in variations.flatMap({ variation in
                (0..<(variation == nil ? 1 : services)).map { (variation, $0) }
            }) {
                let place = Place(edges: edges, parallel: parallel, service: service)
                let walks = walk(place, variation, services, &random)
                count += walks.count
                transitions += walks.reduce(0) { $0 + $1.transitions }
                guard let failure = walks.lazy.compactMap(\.failure).first else { continue }
                let varied = variation.map { "\($0) on \(service)" } ?? "nothing"
                Issue.record("\(edges) parallel: \(parallel), varied: \(varied)\n\(failure)")
                return
            }
        }
        print(
            "\(services) services, 3 faults, 2 commands: \(count) ways, \(transitions) transitions")
    }

    private struct Place {
        let edges: [(Int, Int)]
        let parallel: Bool
        let service: Int
    }

    /// Ways through one graph; every second one with plans.
    private func walk(
        _ place: Place, _ variation: Variation?, _ services: Int, _ random: inout RandomSource
    ) -> [RandomWalk] {
        let start = Exploration(
            edges: place.edges, services: services, parallel: place.parallel
        ) { variation?.vary(&$0[place.service]) }.start
        var allowance = Allowance(faults: 3 + Self.extraFaults, commands: 2)
        if variation?.opensChannel == true { allowance.opensChannel = place.service }
        let specs = start.machine.nodes.map(\.spec)
        return (0..<Self.walks).map { number in
            allowance.plans = number.isMultiple(of: 2) ? [] : SmallPlan.some(specs, 3, &random)
            return RandomWalk(from: start, allowance, &random)
        }
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
        if change.variation?.opensChannel == true { allowance.opensChannel = change.service }
        var exploration = Exploration(
            edges: edges, services: bound.services, parallel: parallel
        ) { change.variation?.vary(&$0[change.service]) }
        exploration.triesStaleEvents = bound.triesStaleEvents
        exploration.run(allowance)
        total += exploration.count
        guard let failure = exploration.failure else { return }
        let varied = change.variation.map { "\($0) on \(change.service)" } ?? "nothing"
        Issue.record("\(edges) parallel: \(parallel), varied: \(varied)\n\(failure)")
    }
}
