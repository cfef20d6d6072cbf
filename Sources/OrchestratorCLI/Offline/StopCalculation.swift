internal import Manifest
internal import Stoic

/// The arithmetic behind `StopWorstCase`.
///
/// In a reverse stop the order depends on which service became ready last, so the worst of all
/// orders that the needs allow is taken. In a parallel stop only what a service needs can come
/// after it.
struct StopCalculation {
    private typealias Shortage = StopWorstCase.Shortage
    private let specs: [ServiceSpec]
    private let graph: NeedGraph
    private let budget: Duration
    private let order: ProjectDefinition.StopOrder
    /// How many services each one needs, directly or not: they always stop after it.
    private let below: [Int]

    init(_ project: ProjectDefinition) {
        specs = project.services.map(\.spec)
        graph = NeedGraph(project)
        budget = project.exitBudget.clamped
        order = project.stopOrder
        switch project.stopOrder {
        case .parallel: below = graph.stopsBelow
        case .reverse:
            // Counting the needs of every service takes O(services × needs); no budget can stretch
            // over thousands of stops one at a time, so beyond that the count is left at zero,
            // which says how long a stop lasts without the reserve of others.
            let graph = graph
            below =
                project.services.count > Self.mostCounted
                ? project.services.map { _ in 0 }
                : project.services.indices.map { index in
                    graph.withNeeds(of: [index]).count { $0 } - 1
                }
        }
    }

    private static let mostCounted = 1_000

    /// The slot of each service when everything else ends at once, at its longest.
    func slotsAlone() -> [Duration] {
        specs.indices.map {
            StopWorstCase.slot(specs[$0].stopTimeout, left: budget, later: below[$0])
        }
    }

    /// What the stops would take without a budget.
    func wanted() -> TimedPath {
        switch order {
        case .reverse:
            let total = specs.reduce(Duration.zero) { $0.saturatingSum($1.stopTimeout) }
            return TimedPath(services: specs.map(\.name), duration: total)
        case .parallel: return longestPath()
        }
    }

    private func longestPath() -> TimedPath {
        var longest = [Duration](repeating: .zero, count: specs.count)
        var next = [Int?](repeating: nil, count: specs.count)
        for service in graph.startOrder {
            var rest = Duration.zero
            for edge in graph.edges(of: service) where longest[edge.index] > rest {
                (rest, next[service]) = (longest[edge.index], edge.index)
            }
            longest[service] = rest.saturatingSum(specs[service].stopTimeout)
        }
        var services: [ServiceName] = []
        var current = specs.indices.max { longest[$0] < longest[$1] }
        let total = current.map { longest[$0] } ?? .zero
        while let index = current {
            services.append(specs[index].name)
            current = next[index]
        }
        return TimedPath(services: services, duration: total)
    }

    /// Services whose own `stopTimeout` does not fit the budget.
    func tooLong(_ alone: [Duration]) -> [StopWorstCase.Shortage] {
        specs.indices.filter { alone[$0] < specs[$0].stopTimeout }
            .prefix(StopWorstCase.mostShortages)
            .map { index in
                let spec = specs[index]
                let reserve = StopWorstCase.reserve * below[index]
                return Shortage(
                    hanging: spec.name, victim: spec.name, slot: alone[index],
                    stopTimeout: spec.stopTimeout, others: 0,
                    enough: spec.stopTimeout.saturatingSum(reserve))
            }
    }

    /// For each service that hangs, the one it takes most from.
    ///
    /// Not looked for beyond `mostCounted` services, where comparing all pairs would take longer
    /// than anybody waits.
    func shortages() -> ([StopWorstCase.Shortage], hasMore: Bool) {
        guard specs.count <= Self.mostCounted else { return ([], false) }
        var found: [Shortage] = []
        for hanging in specs.indices {
            guard let shortage = worstVictim(of: hanging) else { continue }
            guard found.count < StopWorstCase.mostShortages else { return (found, true) }
            found.append(shortage)
        }
        return (found, false)
    }

    private func worstVictim(of hanging: Int) -> StopWorstCase.Shortage? {
        // Most projects fit as a whole, and then no pair needs a look.
        guard specs.contains(where: { couldBeCut($0, by: specs[hanging]) }) else { return nil }
        let pairs = StopPairs(graph, hanging: hanging, order: order)
        var worst: (victim: Int, slot: Duration, later: Int)?
        var cut = 0
        for victim in specs.indices where pairs.canFollow(victim) {
            let (slot, later) = smallestSlot(of: victim, after: hanging, pairs.later(of: victim))
            let alone = StopWorstCase.slot(specs[victim].stopTimeout, left: budget, later: later)
            // What the budget alone takes away is reported once, as `tooLong`.
            guard slot < alone else { continue }
            cut += 1
            let missing = specs[victim].stopTimeout - slot
            if worst.map({ missing > specs[$0.victim].stopTimeout - $0.slot }) ?? true {
                worst = (victim, slot, later)
            }
        }
        return worst.map { worst in
            let (first, second) = (specs[hanging], specs[worst.victim])
            let enough = first.stopTimeout.saturatingSum(second.stopTimeout)
                .saturatingSum(StopWorstCase.reserve * (worst.later + 1))
            return Shortage(
                hanging: first.name, victim: second.name, slot: worst.slot,
                stopTimeout: second.stopTimeout, others: cut - 1, enough: enough)
        }
    }

    /// Whether any order at all could leave less than its `stopTimeout` to a service.
    private func couldBeCut(_ victim: ServiceSpec, by hanging: ServiceSpec) -> Bool {
        let used = min(hanging.stopTimeout.clamped, budget)
        let left = budget - used
        let later = max(0, specs.count - 2)
        return StopWorstCase.slot(victim.stopTimeout, left: left, later: later)
            < victim.stopTimeout
    }

    /// The smallest slot of `victim` right after `hanging`, over how many stops may come later.
    ///
    /// As `later` grows, the slot of the hanging one goes from its `stopTimeout` over "the budget
    /// less the reserve" to half of the budget. The victim's falls in the first and the last part
    /// and grows in the middle one, so the ends and the first step of the middle decide.
    private func smallestSlot(
        of victim: Int, after hanging: Int, _ later: ClosedRange<Int>
    ) -> (Duration, Int) {
        let stopTimeout = specs[hanging].stopTimeout.clamped
        let middle = Int((budget - stopTimeout) / StopWorstCase.reserve)
        let candidates =
            [later.lowerBound, later.upperBound]
            + [middle - 1, middle, middle + 1].filter(later.contains)
        var smallest = (Duration.century, later.lowerBound)
        for count in candidates {
            let before = order == .parallel ? below[hanging] : count + 1
            let used = StopWorstCase.slot(stopTimeout, left: budget, later: before)
            let slot = StopWorstCase.slot(
                specs[victim].stopTimeout, left: budget - used, later: count)
            if slot < smallest.0 { smallest = (slot, count) }
        }
        return smallest
    }
}

/// Which services can be stopped right after a hanging one, and how many stops may then follow.
private struct StopPairs {
    private let graph: NeedGraph
    private let order: ProjectDefinition.StopOrder
    private let needsOfHanging: [Bool]
    private let usersOfHanging: [Bool]
    private let hanging: Int
    private let below: [Int]

    init(_ graph: NeedGraph, hanging: Int, order: ProjectDefinition.StopOrder) {
        self.graph = graph
        self.hanging = hanging
        self.order = order
        needsOfHanging = graph.withNeeds(of: [hanging])
        usersOfHanging = graph.withDependents(of: hanging)
        below = order == .parallel ? graph.stopsBelow : []
    }

    /// Whether the hanging one can take time from this one: what needs it has stopped before.
    func canFollow(_ victim: Int) -> Bool {
        guard victim != hanging else { return false }
        return order == .parallel ? needsOfHanging[victim] : !usersOfHanging[victim]
    }

    /// In larger projects any number of stops may follow: the needs are not counted for each pair,
    /// and a warning may be more careful than it has to be.
    private static let mostExact = 500

    /// How few and how many stops may follow that of `victim`.
    func later(of victim: Int) -> ClosedRange<Int> {
        if order == .parallel { return below[victim]...below[victim] }
        guard needsOfHanging.count <= Self.mostExact else { return 0...(needsOfHanging.count - 2) }
        let needsOfVictim = graph.withNeeds(of: [victim])
        let usersOfVictim = graph.withDependents(of: victim)
        var (after, before) = (0, 0)
        for index in needsOfHanging.indices where index != hanging && index != victim {
            if needsOfHanging[index] || needsOfVictim[index] { after += 1 }
            if usersOfHanging[index] || usersOfVictim[index] { before += 1 }
        }
        let most = needsOfHanging.count - 2 - before
        return min(after, most)...max(after, most)
    }
}
