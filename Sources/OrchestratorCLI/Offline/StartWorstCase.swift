internal import Manifest
internal import Stoic

/// A way through the graph and how long it takes.
struct TimedPath: Hashable, Sendable {
    /// The services along it, in the order of their start or stop.
    var services: [ServiceName]
    /// The time along it; at most a century.
    var duration: Duration
}

/// The longest time until every service of `up` is ready or has failed to start.
///
/// A *hanging* service answers nothing: it takes all the time its own limits give it. For a service
/// with `a` attempts, start limit `T`, stop limit `S` and backoff `d₀, d₁, …` (without jitter,
/// which only shortens):
///
///     failing(s) = T + (a − 1) × (S + T) + d₀ + … + d₍a₋₂₎
///
/// That is also the latest moment at which it can still become ready: the last attempt succeeds
/// when its `T` is nearly over. The stop of a failed attempt counts, because a launch waits for
/// the old tree to be empty.
struct StartWorstCase: Hashable, Sendable {
    /// Only the slowest service hangs, everything else is ready at once: the largest `failing(s)`.
    var oneHangs: TimedPath
    /// Every service becomes ready at its last moment: the longest sum of `failing` along needs.
    var allHang: TimedPath
    /// How long each service may take by itself, in the order of the file.
    var ofEach: [Duration]
    /// Services for which no bound can be given, each with the need that has none: one that waits
    /// for a `service` to complete waits for something that runs until it is stopped.
    var unbounded: [Unbounded]

    /// A need without a bound.
    struct Unbounded: Hashable, Sendable {
        var service: ServiceName
        var need: ServiceName
    }

    /// Computes it for what `up` without names starts: services with `start: auto` and their needs.
    ///
    /// - Precondition: The graph is valid (no unknown need, no cycle), as a loaded project's is.
    /// - Complexity: O(services + needs), without recursion.
    init(of project: ProjectDefinition) {
        let graph = NeedGraph(project)
        let specs = project.services.map(\.spec)
        let each = specs.map(Self.failing)
        let started = graph.withNeeds(of: specs.indices.filter { specs[$0].startsAutomatically })
        var longest = [Duration](repeating: .zero, count: specs.count)
        var before = [Int?](repeating: nil, count: specs.count)
        var endless: [Unbounded] = []
        for service in graph.startOrder where started[service] {
            var start = Duration.zero
            for edge in graph.edges(of: service) {
                if Self.isUnbounded(edge.need, specs[edge.index]) {
                    let need = specs[edge.index].name
                    endless.append(Unbounded(service: specs[service].name, need: need))
                }
                // "Started" is met by the launch itself, which a hanging program has behind it.
                let own = edge.need.condition == .started ? each[edge.index] : .zero
                let met = (longest[edge.index] - own).clamped
                if met > start || before[service] == nil {
                    (start, before[service]) = (met, edge.index)
                }
            }
            longest[service] = start.saturatingSum(each[service])
        }
        let chosen = specs.indices.filter { started[$0] }
        let slowest = chosen.max { each[$0] < each[$1] }
        let last = chosen.max { longest[$0] < longest[$1] }
        oneHangs = Self.single(slowest, each, specs)
        allHang = Self.path(to: last, longest, before, specs)
        ofEach = each
        unbounded = endless
    }

    /// How long a service may take until it is ready or has failed to start.
    static func failing(_ spec: ServiceSpec) -> Duration {
        var total = spec.startTimeout.clamped
        // Beyond the step at which the backoff no longer grows, every attempt costs the same; the
        // loop ends early once the sum is a century.
        for step in 0..<max(0, spec.startAttempts - 1) {
            if total >= .century { break }
            total = total.saturatingSum(spec.stopTimeout)
                .saturatingSum(spec.restart.backoff.delayBeforeJitter(step: step))
                .saturatingSum(spec.startTimeout)
        }
        return total
    }

    private static func isUnbounded(_ need: Need, _ spec: ServiceSpec) -> Bool {
        need.condition == .completed && spec.kind == .service
    }

    private static func single(
        _ index: Int?, _ durations: [Duration], _ specs: [ServiceSpec]
    ) -> TimedPath {
        guard let index else { return TimedPath(services: [], duration: .zero) }
        return TimedPath(services: [specs[index].name], duration: durations[index])
    }

    private static func path(
        to last: Int?, _ longest: [Duration], _ before: [Int?], _ specs: [ServiceSpec]
    ) -> TimedPath {
        guard let last else { return TimedPath(services: [], duration: .zero) }
        var services: [ServiceName] = []
        var current: Int? = last
        while let index = current {
            services.append(specs[index].name)
            current = before[index]
        }
        return TimedPath(services: services.reversed(), duration: longest[last])
    }
}
