/// What must hold of an engine's own record of its decisions, whatever was done to it.
struct ChaosChecker {
    /// Whom each service needs.
    let needs: [String: [String]]

    /// One record: its name, and the service it is about.
    struct Step: Hashable {
        let name: String
        let service: String?

        init(_ name: String, _ service: String? = nil) {
            self.name = name
            self.service = service
        }

        init(_ event: JournalEvent) { self.init(event.name, event.service) }
    }

    /// The services whose processes are there, by the record.
    private var present: Set<String> = []
    private var ready: Set<String> = []
    private var isStopping = false
    private var hasEnded = false
    private(set) var complaints: [String] = []

    init(needs: [String: [String]]) { self.needs = needs }

    /// What is wrong with a record, in its order.
    static func complaints(about steps: [Step], needs: [String: [String]]) -> [String] {
        var checker = ChaosChecker(needs: needs)
        for step in steps { checker.take(step) }
        if !checker.hasEnded { checker.complaints.append("the project never ended") }
        return checker.complaints
    }

    private mutating func take(_ step: Step) {
        switch (step.name, step.service) {
        case ("defect", _): complaints.append("a defect")
        case ("project.stopping", _): isStopping = true
        case ("project.ended", _):
            hasEnded = true
            if !present.isEmpty { complaints.append("the end left \(present.sorted())") }
        case ("service.launching", let service?): launching(service)
        case ("service.ready", let service?): ready.insert(service)
        case ("service.stopping", let service?):
            ready.remove(service)
            if isStopping { stopping(service) }
        case ("service.failed", let service?), ("service.notReady", let service?):
            ready.remove(service)
        case ("service.stopped", let service?):
            ready.remove(service)
            present.remove(service)
        default: break
        }
    }

    private mutating func launching(_ service: String) {
        if hasEnded { complaints.append("\(service) is launched after the end") }
        if isStopping { complaints.append("\(service) is launched while everything stops") }
        if !present.insert(service).inserted {
            complaints.append("\(service) is launched twice at once")
        }
        for need in needs[service] ?? [] where !ready.contains(need) {
            complaints.append("\(service) is launched before \(need) is ready")
        }
    }

    private mutating func stopping(_ service: String) {
        for (dependent, needed) in needs where needed.contains(service) {
            if present.contains(dependent) {
                complaints.append("\(service) is stopped before \(dependent), which needs it")
            }
        }
    }
}

extension ChaosChecker {
    /// A record with nothing wrong in it, of `b`, which needs `a`.
    static let sound: [Step] = [
        Step("service.launching", "a"), Step("service.ready", "a"),
        Step("service.launching", "b"), Step("service.ready", "b"), Step("service.failed", "a"),
        Step("service.stopped", "a"), Step("service.launching", "a"), Step("service.ready", "a"),
        Step("project.stopping"), Step("service.stopping", "b"), Step("service.stopped", "b"),
        Step("service.stopping", "a"), Step("service.stopped", "a"), Step("project.ended"),
    ]

    /// Records with one fault each, and a word of the complaint it must lead to.
    static var planted: [(steps: [Step], word: String)] {
        func without(_ place: Int) -> [Step] {
            sound.enumerated().filter { $0.offset != place }.map(\.element)
        }
        var early = sound
        early.swapAt(9, 11)
        return [
            (without(1), "before a is ready"), (without(5), "twice at once"),
            (without(12), "left [\"a\"]"), (without(13), "never ended"),
            (early, "stopped before b"),
            (sound + [Step("service.launching", "a")], "after the end"),
            (sound + [Step("defect")], "a defect"),
        ]
    }
}
