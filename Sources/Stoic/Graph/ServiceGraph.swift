/// Services that need each other, started in the order their needs dictate and stopped in reverse.
///
/// ```swift
/// let database = ServiceKey<Database>("database")
/// let graph = try ServiceGraph(label: "app") {
///     Provide(database) { _ in try await Database.open() } stop: { db, _ in await db.close() }
/// }
/// try await graph.run { services in try await serve(services[database]) }
/// ```
/// The rules of starting, stopping, timeouts and budgets are those of `LifecycleMachine`, which
/// also drives processes. A graph is a value: it can be run again, and twice at once.
public struct ServiceGraph: Sendable {
    /// The name in events.
    public let label: String
    /// How stops follow each other.
    public let stopOrder: StopOrder
    let provides: [Provide]
    let specs: [ServiceSpec]
    private let graph: DependencyGraph
    private let control = GraphControl()

    /// How stops follow each other. A service always stops before what it needs.
    public enum StopOrder: Hashable, Sendable {
        /// One at a time, in the reverse of the order in which starts completed.
        case reverse
        /// Each as soon as nothing that needs it is left.
        case parallel
    }

    /// Checks the graph; nothing starts.
    /// - Throws: `.duplicate`, `.missing` or `.cycle`, with everything that is wrong in that way.
    public init(
        label: String, stopOrder: StopOrder = .reverse,
        @ServicesBuilder _ services: () -> [Provide]
    ) throws(ServiceGraphError) {
        self.label = label
        self.stopOrder = stopOrder
        provides = services()
        let names = GraphNames(provides)
        specs = provides.map { names.spec(of: $0) }
        do {
            graph = try DependencyGraph(specs)
        } catch {
            throw names.explained(error)
        }
    }

    /// Every service after everything it needs; those that are ready at once in the order they were
    /// declared.
    public var startOrder: [AnyServiceKey] { graph.startOrder.map { provides[$0].key } }

    /// The graph for people to read.
    public var explain: GraphExplanation { GraphExplanation(graph: self) }

    /// What is decided about the services, in every run from now on. The stream keeps the newest
    /// 1,024 events that were not read yet, and ends with its reader.
    public var events: AsyncStream<Event> { control.events() }

    /// Stops every run of this graph: starts that are under way are cancelled, the body is, and
    /// everything stops in order. A run that begins later does not start. Asking again changes
    /// nothing.
    public func requestStop(cause: CancellationCause = .requested) { control.requestStop(cause) }

    /// Cuts every stop short: whatever runs is cancelled at once, and left behind a second later.
    /// For those who asked once and do not want to wait any longer.
    public func force() { control.force() }

    /// What every run is doing now, one line for each service that is not at rest.
    public var summary: [String] { control.summary }

    /// Starts every service, runs `body` on the caller's actor, and stops every service however the
    /// body ends.
    ///
    /// - Parameters:
    ///   - exitBudget: How long all stops together may take; default 30 s.
    ///   - stopTimeout: How long one stop may take before it is cancelled, where its service does
    ///     not say; default 10 s. A second later it is left behind and the next one runs.
    ///   - clock: Whose time all limits of the run take; the ambient liveness clock unless given.
    ///     Services and `body` keep the ambient ones.
    ///   - body: Runs once everything has started.
    /// - Throws: What `body` throws; `ServiceGraphError.startFailed` with the culprit;
    ///   `.stoppedBeforeStart`; `CancellationError` when the caller is cancelled before everything
    ///   has started; what the work of a service throws. Failed stops are reported, not thrown.
    public nonisolated(nonsending) func run<R>(
        exitBudget: Duration = .seconds(30), stopTimeout: Duration = .seconds(10),
        clock: (any Clock<Duration>)? = nil,
        _ body: nonisolated(nonsending) (Services) async throws -> R
    ) async throws -> R {
        if let cause = control.stopCause { throw ServiceGraphError.stoppedBeforeStart(cause) }
        let run = GraphRun(
            self, exitBudget: exitBudget, stopTimeout: stopTimeout, clock: clock, control: control)
        control.enter(run)
        defer { control.leave(run) }
        return try await withContext(run.context) {
            try await run.perform { services in try await body(services) }
        }
    }
}

/// The names the machine knows services by, and what they mean.
private struct GraphNames {
    private let provides: [Provide]
    private let clashing: Set<String>

    init(_ provides: [Provide]) {
        self.provides = provides
        var types: [String: AnyServiceKey] = [:]
        var clashing: Set<String> = []
        for key in provides.flatMap({ [$0.key] + $0.needs }) {
            if let other = types.updateValue(key, forKey: key.name), other != key {
                clashing.insert(key.name)
            }
        }
        self.clashing = clashing
        for name in clashing.sorted() {
            emit(.graphSameNameDifferentType, .notice, [.init("name", name)])
        }
    }

    private func name(_ key: AnyServiceKey) -> ServiceName {
        ServiceName(clashing.contains(key.name) ? "\(key.name): \(key.typeName)" : key.name)
    }

    func spec(of provide: Provide) -> ServiceSpec {
        let needs = Set(provide.needs)
        var spec = ServiceSpec(
            name(provide.key),
            needs: provide.needs.filter { needs.contains($0) }.map { Need(name($0)) },
            readiness: .reported)
        spec.startTimeout = provide.startTimeout
        spec.startTimeoutMax = provide.startTimeout
        spec.ladder = [Rung(.command(0))]
        spec.restart = RestartPolicy(mode: .no)
        return spec
    }

    /// The first kind of problem there is, all of its kind.
    func explained(_ error: DependencyGraphError) -> ServiceGraphError {
        let keys = Dictionary(
            provides.flatMap { [$0.key] + $0.needs }.map { (name($0), $0) },
            uniquingKeysWith: { first, _ in first })
        let known = { (name: ServiceName) -> AnyServiceKey in
            guard let key = keys[name] else { preconditionFailure("a name without a key: \(name)") }
            return key
        }
        if !error.duplicates.isEmpty { return .duplicate(error.duplicates.map(known)) }
        if !error.unknownNeeds.isEmpty {
            return .missing(
                error.unknownNeeds.map { .init(key: known($0.need), neededBy: known($0.service)) })
        }
        return .cycle(error.cycles.map { $0.map(known) })
    }
}
