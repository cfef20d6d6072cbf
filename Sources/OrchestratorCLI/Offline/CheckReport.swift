internal import Manifest
internal import Orchestrator
internal import Stoic

/// What `check` found in a config that can be used.
struct CheckReport: Hashable, Sendable {
    var file: String
    var services: [ServiceName]
    var start: StartWorstCase
    var stop: StopWorstCase
    var exitBudget: Duration
    var stopOrder: ProjectDefinition.StopOrder
    /// What the loader found odd.
    var diagnostics: [Diagnostic]
    /// What the arithmetic found.
    var warnings: [String]

    /// - Parameter descriptorLimit: How many descriptors the engine may have, at most.
    init(_ project: ProjectDefinition, _ diagnostics: [Diagnostic], descriptorLimit: UInt64) {
        file = project.file
        services = project.services.map(\.spec.name)
        start = StartWorstCase(of: project)
        stop = StopWorstCase(of: project)
        exitBudget = project.exitBudget
        stopOrder = project.stopOrder
        self.diagnostics = diagnostics
        warnings =
            Self.words(start) + Self.words(stop, exitBudget)
            + DescriptorNeed(of: project).warning(limit: descriptorLimit)
    }

    private static func words(_ start: StartWorstCase) -> [String] {
        start.unbounded.map {
            "\"\($0.service)\" waits for \"\($0.need)\" to complete, which runs until it is "
                + "stopped: its start has no bound; make \"\($0.need)\" a oneshot"
        }
    }

    private static func words(_ stop: StopWorstCase, _ budget: Duration) -> [String] {
        var words = stop.tooLong.map {
            "\"\($0.victim)\" never gets its stopTimeout of \(humanDuration($0.stopTimeout)): "
                + "exitBudget is \(humanDuration(budget)), which leaves it "
                + "\(humanDuration($0.slot)); raise exitBudget to "
                + "\(humanDuration($0.enough)) or lower the stopTimeout"
        }
        words += stop.shortages.map { shortage in
            let others = shortage.others > 0 ? " (and \(shortage.others) more get less)" : ""
            return "if \"\(shortage.hanging)\" hangs while it stops, \"\(shortage.victim)\" gets "
                + "\(humanDuration(shortage.slot)) instead of its stopTimeout of "
                + "\(humanDuration(shortage.stopTimeout))\(others); raise exitBudget to "
                + "\(humanDuration(shortage.enough)) or lower the stopTimeout of "
                + "\"\(shortage.hanging)\""
        }
        if stop.hasMoreShortages {
            words.append("more services would cut others short; only the first are listed")
        }
        return words
    }

    /// How many warnings there are, whoever found them.
    var warningCount: Int { diagnostics.count + warnings.count }
}

/// How many descriptors the engine holds while everything runs.
struct DescriptorNeed: Hashable, Sendable {
    /// Descriptors of all services together.
    var total: UInt64
    /// What the engine itself needs, generously.
    static let ours: UInt64 = 64

    /// Each service: the handle of its process, its pipe (two if errors are kept apart), its notify
    /// socket, its log and the index of the log; a control channel and a readiness pipe if it has
    /// them.
    init(of project: ProjectDefinition) {
        total = project.services.reduce(0) { total, service in
            let pipes: UInt64 = service.output.separatesErrors ? 2 : 1
            let channel: UInt64 = service.hasControlChannel ? 1 : 0
            return total + 4 + pipes + channel + Self.readinessPipes(service.ready)
        }
    }

    private static func readinessPipes(_ ready: ReadyDefinition) -> UInt64 {
        switch ready {
        case .descriptor: 1
        case .all(let parts), .any(let parts): parts.reduce(0) { $0 + readinessPipes($1) }
        case .started, .notify, .tcp, .unix, .exec, .log, .file, .delay, .completion: 0
        }
    }

    /// A warning when it does not fit.
    func warning(limit: UInt64) -> [String] {
        guard total + Self.ours > limit else { return [] }
        return [
            "the project needs about \(total + Self.ours) descriptors and the limit is \(limit); "
                + "raise it with ulimit -Hn"
        ]
    }
}
