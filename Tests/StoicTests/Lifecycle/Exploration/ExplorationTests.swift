import Testing

@testable import Stoic

/// Every graph of up to four services, under every order of events within a bound of faults and
/// commands, against the invariants. Isomorphic graphs are explored once.
@Suite("LifecycleMachine, every interleaving", .timeLimit(.minutes(5)))
struct ExplorationTests {
    @Test("LIF-3: every interleaving keeps the invariants", arguments: [1, 2, 3])
    func everyInterleaving(services: Int) {
        var total = Exploration.Count()
        let bound = services == 1 ? (2, 2) : services == 2 ? (1, 1) : (1, 0)
        for edges in SmallGraph.all(services) {
            for parallel in [false, true] {
                var exploration = Exploration(edges: edges, services: services, parallel: parallel)
                exploration.run(faults: bound.0, commands: bound.1)
                total.states += exploration.count.states
                total.transitions += exploration.count.transitions
                if let failure = exploration.failure {
                    Issue.record("\(edges) parallel: \(parallel)\n\(failure)")
                    return
                }
            }
        }
        print(
            "\(services) services: \(total.states) states, \(total.transitions) transitions explored"
        )
        #expect(total.states > 0)
    }
}

/// A depth-first walk over control states.
struct Exploration {
    struct Count {
        var states = 0
        var transitions = 0
    }
    var count = Count()
    var failure: String?
    private let start: ImaginaryHost
    private var seen: Set<ControlState> = []

    init(
        edges: [(Int, Int)], services: Int, parallel: Bool,
        vary: (inout [ServiceSpec]) -> Void = { _ in }
    ) {
        var specs = (0..<services).map { number in
            var spec = ServiceSpec(
                ServiceName("s\(number)"),
                needs: edges.filter { $0.0 == number }.map { Need(ServiceName("s\($0.1)")) },
                readiness: .reported)
            spec.restart.limitCount = 1
            spec.restart.backoff = .spaced(.seconds(1))
            return spec
        }
        vary(&specs)
        let settings = LifecycleMachine.Settings(
            exitBudget: .seconds(30), stopsInParallel: parallel, random: .seeded(1))
        do {
            start = ImaginaryHost(try LifecycleMachine(specs, settings: settings))
        } catch {
            preconditionFailure("\(error)")
        }
    }

    mutating func run(faults: Int, commands: Int) {
        var first = start
        first.command(.up)
        var stack = [(first, faults, commands, [String]())]
        while let (host, faults, commands, path) = stack.popLast(), failure == nil {
            for choice in host.choices(faults: faults, commands: commands) {
                var next = host
                next.decisions = []
                next.log = []
                next.send(choice.event)
                count.transitions += 1
                let steps = path + ["\(choice.event)"]
                if let violation = next.violations.first {
                    failure = "\(violation) after\n  " + steps.joined(separator: "\n  ")
                    return
                }
                let left = (
                    faults - (choice.isFault ? 1 : 0), commands - (choice.isCommand ? 1 : 0)
                )
                let state = ControlState(next, faults: left.0, commands: left.1)
                if seen.insert(state).inserted { stack.append((next, left.0, left.1, steps)) }
            }
        }
        count.states = seen.count
    }
}

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
