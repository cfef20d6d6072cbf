import Stoic
import Testing

@Suite("DependencyGraph", .timeLimit(.minutes(1)))
struct DependencyGraphTests {
    static func specs(_ edges: [(String, [String])]) -> [ServiceSpec] {
        edges.map { name, needs in
            ServiceSpec(ServiceName(name), needs: needs.map { Need(ServiceName($0)) })
        }
    }

    @Test("LIF-1: every problem is refused at once, each in words")
    func everyProblemAtOnce() {
        let specs = Self.specs([
            ("a", ["b"]), ("b", ["c"]), ("c", ["a"]), ("d", ["d"]), ("e", ["nope", "f", "f"]),
            ("f", []), ("f", []),
        ])
        let error = #expect(throws: DependencyGraphError.self) { try DependencyGraph(specs) }
        #expect(
            error?.description == """
                f is declared more than once; e needs nope, which is not declared; \
                e lists f more than once; cycle: a → b → c → a; cycle: d → d
                """)
    }

    @Test("LIF-1: a cycle of any length is spelled out", arguments: [1, 2, 3, 10, 1_000, 100_000])
    func cycleOfAnyLength(length: Int) {
        var specs = (0..<length).map { number in
            ServiceSpec(
                ServiceName("s\(number)"), needs: [Need(ServiceName("s\((number + 1) % length)"))])
        }
        specs.append(ServiceSpec("outside", needs: [Need("s0")]))
        let error = #expect(throws: DependencyGraphError.self) { try DependencyGraph(specs) }
        #expect(error?.cycles == [(0..<length).map { ServiceName("s\($0)") }])
    }

    @Test("LIF-2: a chain of 100,000 validates without overflowing a stack")
    func longChain() throws {
        let specs = (0..<100_000).map { number in
            ServiceSpec(
                ServiceName("s\(number)"),
                needs: number == 0 ? [] : [Need(ServiceName("s\(number - 1)"))])
        }
        let graph = try DependencyGraph(specs.reversed())
        #expect(graph.startOrder.count == 100_000)
        #expect(graph.depths.max() == 99_999)
        for service in graph.names.indices.dropFirst() {
            #expect(graph.dependents[service].first == service - 1)
        }
    }

    @Test("start order keeps the order of declaration among equals")
    func startOrder() throws {
        let graph = try DependencyGraph(
            Self.specs([("d", ["b", "c"]), ("c", ["a"]), ("b", ["a"]), ("a", [])]))
        #expect(graph.startOrder.map { graph.names[$0].text } == ["a", "c", "b", "d"])
    }
}
