/// What is wrong with a graph, or kept it from coming up.
///
/// New cases may be added; a `switch` over it needs a default.
public enum ServiceGraphError: Error {
    /// These keys are provided more than once.
    case duplicate([AnyServiceKey])
    /// These needs are not provided.
    case missing([MissingNeed])
    /// These services need each other in a circle, each circle once round.
    case cycle([[AnyServiceKey]])
    /// A service did not start; everything that had started was stopped.
    case startFailed(StartFailure)
    /// The stop was asked for before the graph was up: the body never ran.
    case stoppedBeforeStart(CancellationCause)

    /// A need that is not provided.
    public struct MissingNeed: Hashable, Sendable {
        /// What is needed.
        public let key: AnyServiceKey
        /// Who needs it.
        public let neededBy: AnyServiceKey
    }

    /// A service that did not start, and what became of the others.
    public struct StartFailure: Sendable {
        /// The service whose start failed first.
        public let key: AnyServiceKey
        /// What its start threw; `DeadlineExceeded` when it took too long.
        public let underlying: any Error
        /// Other starts that failed by themselves.
        public let alsoFailed: [(key: AnyServiceKey, error: any Error)]
        /// Services that had started, in the order they were stopped.
        public let stopped: [AnyServiceKey]
    }
}

extension ServiceGraphError: Reportable {
    /// `graph.startFailed` and the like: a word for each case.
    public var reportCode: String {
        switch self {
        case .duplicate: "graph.duplicate"
        case .missing: "graph.missing"
        case .cycle: "graph.cycle"
        case .startFailed: "graph.startFailed"
        case .stoppedBeforeStart: "graph.stoppedBeforeStart"
        }
    }

    /// What is wrong, with every key it concerns.
    public var reportCause: String { description }
}

extension ServiceGraphError: CustomStringConvertible {
    /// What is wrong, with every key it concerns.
    public var description: String {
        switch self {
        case .duplicate(let keys):
            keys.map { "\($0) is provided more than once" }.joined(separator: "; ")
        case .missing(let needs):
            needs.map { "\($0.neededBy) needs \($0.key), which is not provided" }
                .joined(separator: "; ")
        case .cycle(let cycles):
            cycles.map { cycle in
                "cycle: " + (cycle + cycle.prefix(1)).map(\.name).joined(separator: " → ")
            }.joined(separator: "; ")
        case .startFailed(let failure):
            "\(failure.key) did not start: \(failure.underlying)"
        case .stoppedBeforeStart(let cause):
            "stopped before it was up (\(cause)): nothing ran"
        }
    }
}
