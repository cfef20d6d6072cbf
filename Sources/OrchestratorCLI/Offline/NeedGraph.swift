internal import Manifest
internal import Stoic

/// The needs of a project by index, for arithmetic and drawing. No recursion: a chain of 100,000
/// services is an ordinary graph.
struct NeedGraph {
    /// An edge to the service with this index.
    struct Edge: Hashable {
        var index: Int
        var need: Need
    }

    /// Every service after what it needs; ties in the order of the file.
    let startOrder: [Int]
    /// 0 for services without needs, else one more than the deepest need.
    let waves: [Int]
    private let needs: [[Edge]]
    private let dependents: [[Int]]

    /// - Precondition: The graph is valid, as a loaded project's is. Unknown needs are left out,
    ///   and the services of a cycle too.
    init(_ project: ProjectDefinition) {
        let specs = project.services.map(\.spec)
        var indices: [ServiceName: Int] = [:]
        for (index, spec) in specs.enumerated() { indices[spec.name] = index }
        let edges = specs.map { spec in
            spec.needs.compactMap { need in
                indices[need.service].map { Edge(index: $0, need: need) }
            }
        }
        var users = [[Int]](repeating: [], count: specs.count)
        for (index, list) in edges.enumerated() {
            for edge in list { users[edge.index].append(index) }
        }
        needs = edges
        dependents = users
        (startOrder, waves) = Self.sorted(edges, users)
    }

    /// What a service needs, in the order of the file.
    func edges(of service: Int) -> [Edge] { needs[service] }

    /// Which of all services are these, or needed by them, directly or not.
    func withNeeds(of services: [Int]) -> [Bool] {
        reached(from: services) { needs[$0].map(\.index) }
    }

    /// Which of all services need this one, directly or not; itself included.
    func withDependents(of service: Int) -> [Bool] { reached(from: [service]) { dependents[$0] } }

    /// The most stops that follow one after another after each service's own, when each stops as
    /// soon as nothing that needs it is left.
    var stopsBelow: [Int] {
        var depth = [Int](repeating: 0, count: needs.count)
        for service in startOrder {
            for edge in needs[service] {
                depth[service] = max(depth[service], depth[edge.index] + 1)
            }
        }
        return depth
    }

    private func reached(from services: [Int], next: (Int) -> [Int]) -> [Bool] {
        var reached = [Bool](repeating: false, count: needs.count)
        var pending = services
        for service in services { reached[service] = true }
        while let service = pending.popLast() {
            for other in next(service) where !reached[other] {
                reached[other] = true
                pending.append(other)
            }
        }
        return reached
    }

    /// Kahn's algorithm, wave by wave, each wave in the order of the file.
    private static func sorted(_ needs: [[Edge]], _ dependents: [[Int]]) -> ([Int], [Int]) {
        var missing = needs.map(\.count)
        var waves = [Int](repeating: 0, count: needs.count)
        var order: [Int] = []
        var wave = needs.indices.filter { missing[$0] == 0 }
        var number = 0
        while !wave.isEmpty {
            for service in wave { waves[service] = number }
            var next: [Int] = []
            for user in wave.flatMap({ dependents[$0] }) {
                missing[user] -= 1
                if missing[user] == 0 { next.append(user) }
            }
            order += wave
            wave = next.sorted()
            number += 1
        }
        return (order, waves)
    }
}
