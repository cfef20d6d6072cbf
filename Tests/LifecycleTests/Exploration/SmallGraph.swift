/// The directed acyclic graphs of a few services, one of each shape.
enum SmallGraph {
    /// Each as its edges, from a service to one it needs.
    static func all(_ services: Int) -> [[(Int, Int)]] {
        let pairs = (0..<services).flatMap { from in (0..<from).map { (from, $0) } }
        var shapes: Set<[Int]> = []
        var graphs: [[(Int, Int)]] = []
        for mask in 0..<(1 << pairs.count) {
            let edges = pairs.enumerated().filter { mask >> $0.offset & 1 == 1 }.map(\.element)
            if shapes.insert(shape(edges, services)).inserted { graphs.append(edges) }
        }
        return graphs
    }

    /// The least of the edge lists that renaming the services can give.
    private static func shape(_ edges: [(Int, Int)], _ services: Int) -> [Int] {
        var least: [Int]?
        for names in permutations(Array(0..<services)) {
            let renamed = edges.map { names[$0.0] * services + names[$0.1] }.sorted()
            if least.map({ renamed.lexicographicallyPrecedes($0) }) ?? true { least = renamed }
        }
        return least ?? []
    }

    private static func permutations(_ items: [Int]) -> [[Int]] {
        guard let first = items.first else { return [[]] }
        return permutations(Array(items.dropFirst())).flatMap { rest in
            (0...rest.count).map { Array(rest[..<$0]) + [first] + Array(rest[$0...]) }
        }
    }
}
