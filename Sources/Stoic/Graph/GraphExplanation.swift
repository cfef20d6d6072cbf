/// A graph for people to read.
public struct GraphExplanation: Sendable {
    private let label: String
    private let services: [(name: String, needs: [String])]

    init(graph: ServiceGraph) {
        label = graph.label
        let needs = Dictionary(
            graph.provides.map { ($0.key, $0.needs.map(\.name)) },
            uniquingKeysWith: { first, _ in first })
        services = graph.startOrder.map { ($0.name, needs[$0] ?? []) }
    }

    /// One line for each service, in start order, with what it needs.
    public var text: String {
        services.map { service in
            service.needs.isEmpty
                ? service.name : "\(service.name) needs \(service.needs.joined(separator: ", "))"
        }.joined(separator: "\n")
    }

    /// The graph in the DOT language; an arrow goes from a service to what it needs.
    public var dot: String {
        var lines = ["digraph \(quoted(label)) {"]
        for service in services {
            lines.append("  \(quoted(service.name));")
            for need in service.needs {
                lines.append("  \(quoted(service.name)) -> \(quoted(need));")
            }
        }
        return (lines + ["}"]).joined(separator: "\n")
    }

    private func quoted(_ text: String) -> String {
        let escaped = text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
        return "\"\(escaped)\""
    }
}
