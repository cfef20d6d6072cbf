/// Who needs whom, checked: no name twice, no need of an absent service, no cycle.
///
/// Services are numbered in the order they were given.
public struct DependencyGraph: Hashable, Sendable {
    /// The services, in the order they were given.
    public let names: [ServiceName]
    /// For each service, the services it needs, in the order it lists them.
    public let needs: [[Int]]
    /// For each service, the services that list it, in the order they were given.
    public let dependents: [[Int]]
    /// Every service after everything it needs; ties keep the order they were given in.
    public let startOrder: [Int]

    /// Checks the graph that `specs` declare.
    /// - Throws: `DependencyGraphError` with *all* duplicates, unknown needs and cycles.
    /// - Complexity: O(services + needs), without recursion.
    public init(_ specs: [ServiceSpec]) throws(DependencyGraphError) {
        var index: [ServiceName: Int] = [:]
        var error = DependencyGraphError()
        for (number, spec) in specs.enumerated() {
            if index[spec.name] == nil {
                index[spec.name] = number
            } else {
                error.duplicates.append(spec.name)
            }
        }
        var needs: [[Int]] = Array(repeating: [], count: specs.count)
        var dependents = needs
        for (number, spec) in specs.enumerated() {
            var listed: Set<Int> = []
            for need in spec.needs {
                guard let target = index[need.service] else {
                    error.unknownNeeds.append(.init(service: spec.name, need: need.service))
                    continue
                }
                guard listed.insert(target).inserted else {
                    error.repeatedNeeds.append(.init(service: spec.name, need: need.service))
                    continue
                }
                needs[number].append(target)
                dependents[target].append(number)
            }
        }
        names = specs.map(\.name)
        self.needs = needs
        self.dependents = dependents
        startOrder = Self.sorted(needs: needs, dependents: dependents)
        if startOrder.count < specs.count {
            error.cycles = CycleSearch(needs: needs).cycles().map { cycle in
                cycle.map { specs[$0].name }
            }
        }
        guard error.isEmpty else { throw error }
    }

    /// For each service, the most services on a path of needs that starts with it, itself not
    /// counted.
    /// - Complexity: O(services + needs).
    public var depths: [Int] {
        var depth = Array(repeating: 0, count: names.count)
        for service in startOrder {
            for need in needs[service] { depth[service] = max(depth[service], depth[need] + 1) }
        }
        return depth
    }

    /// Kahn's algorithm. What is on a cycle, or needs something that is, is left out.
    private static func sorted(needs: [[Int]], dependents: [[Int]]) -> [Int] {
        var unmet = needs.map(\.count)
        var order: [Int] = []
        order.reserveCapacity(needs.count)
        for service in needs.indices where unmet[service] == 0 { order.append(service) }
        var next = 0
        while next < order.count {
            for dependent in dependents[order[next]] {
                unmet[dependent] -= 1
                if unmet[dependent] == 0 { order.append(dependent) }
            }
            next += 1
        }
        return order
    }
}

/// Everything that is wrong with a graph, all of it at once.
public struct DependencyGraphError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Names given more than once, once for each repetition.
    public var duplicates: [ServiceName] = []
    /// Needs of services that are not there.
    public var unknownNeeds: [Edge] = []
    /// Needs listed more than once by one service.
    public var repeatedNeeds: [Edge] = []
    /// Cycles, each once round: the first service needs the second, and the last needs the first.
    public var cycles: [[ServiceName]] = []

    /// A need of a service.
    public struct Edge: Hashable, Sendable {
        /// The service that lists the need.
        public var service: ServiceName
        /// What it lists.
        public var need: ServiceName
    }

    /// Whether nothing is wrong.
    public var isEmpty: Bool {
        duplicates.isEmpty && unknownNeeds.isEmpty && repeatedNeeds.isEmpty && cycles.isEmpty
    }

    /// A cycle in words, closed: `x → y → z → x`.
    public static func spelledOut(_ cycle: [ServiceName]) -> String {
        (cycle + cycle.prefix(1)).map(\.text).joined(separator: " → ")
    }

    /// One sentence for each problem, joined by semicolons.
    public var description: String {
        var sentences = duplicates.map { "\($0) is declared more than once" }
        sentences += unknownNeeds.map { "\($0.service) needs \($0.need), which is not declared" }
        sentences += repeatedNeeds.map { "\($0.service) lists \($0.need) more than once" }
        sentences += cycles.map { "cycle: \(Self.spelledOut($0))" }
        return sentences.joined(separator: "; ")
    }
}
