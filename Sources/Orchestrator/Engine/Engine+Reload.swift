import Manifest
import Stoic

/// A changed config: read, compared, and given to the brain as a plan.
extension Engine {
    /// What reading the config again came to.
    enum ReloadOutcome {
        /// The plan is under way; what it changes.
        case planned([PlanChange], warnings: [String])
        /// The config is refused, and nothing has changed.
        case refused([String])
    }

    /// Reads the config and has the brain carry out what has changed. A bad config changes nothing.
    func reload(
        by requester: String, rollsBack: Bool,
        answer: (([LifecycleDecision]) -> Void)? = nil
    ) -> ReloadOutcome {
        upstream.reloading()
        defer { upstream.ready() }
        switch readPlan(rollsBack: rollsBack) {
        case .failure(let problems):
            tell(
                "plan.refused", .error,
                "cannot reload: the config has \(problems.lines.count) error(s); nothing changed",
                [("errors", .list(problems.lines.map { .text($0) }))])
            return .refused(problems.lines)
        case .success(let reading):
            let changes = machine.changes(reading.plan)
            project = reading.project
            definitions.replace(reading.project)
            inbox.post(Command(.plan(reading.plan), by: requester), answer: answer)
            return .planned(changes, warnings: reading.warnings)
        }
    }

    private struct Problems: Error { let lines: [String] }
    private struct Reading {
        let project: ProjectDefinition
        let plan: Plan
        let warnings: [String]
    }

    private func readPlan(rollsBack: Bool) -> Result<Reading, Problems> {
        do {
            let (project, warnings) = try loadProject(
                file: self.project.file, environment: ownEnvironment)
            if project.name != self.project.name
                || project.stateDirectory != self.project.stateDirectory
            {
                return .failure(
                    Problems(lines: [
                        "\(project.file): name and stateDirectory cannot change while the project "
                            + "runs: use 'orchestrator down', then 'orchestrator up'"
                    ]))
            }
            let plan = try Plan(project.services.map(\.spec), rollsBack: rollsBack)
            return .success(
                Reading(project: project, plan: plan, warnings: warnings.map(\.description)))
        } catch let error as ConfigError {
            return .failure(Problems(lines: error.diagnostics.map(\.description)))
        } catch {
            return .failure(Problems(lines: ["\(error)"]))
        }
    }

    // MARK: Verbs

    func plan(_ exchange: ControlExchange) {
        switch readPlan(rollsBack: false) {
        case .failure(let problems): exchange.refuse(problems.lines)
        case .success(let reading):
            exchange.respond(200, view(machine.changes(reading.plan), reading.warnings))
        }
    }

    func reload(_ request: ControlRequest, _ exchange: ControlExchange) {
        if let name = request.body?["service"]?.string {
            return reloadService(name, request, exchange)
        }
        let rollsBack = request.body?["rollback"]?.bool ?? false
        let outcome = reload(by: request.requester, rollsBack: rollsBack) { [weak self] decisions in
            guard let self else { return }
            for case .refused(_, _, let refusal) in decisions.map(\.what) {
                return exchange.fail(409, code: refusal.code, message: refusal.words)
            }
            let waiter = EngineWaiter(exchange, services: nil) { engine in
                engine.planLine
            }
            add(waiter, request)
        }
        switch outcome {
        case .refused(let lines): exchange.refuse(lines)
        case .planned(let changes, let warnings):
            exchange.send(view(changes, warnings))
        }
    }

    private var planLine: JSONValue? {
        guard machine.isPlanSettled else { return nil }
        return awaited(machine.services.filter(machine.isWanted), "as the config has them") {
            switch $0 {
            case .ended(.failed), .ended(.gaveUp), .abandoned: .no
            case .ended, .up, .waiting: .yes
            case .starting, .stopping, .backingOff: .yes
            }
        }
    }

    private func reloadService(
        _ name: String, _ request: ControlRequest, _ exchange: ControlExchange
    ) {
        guard let id = machine.service(named: ServiceName(name)) else {
            return exchange.fail(
                404, code: "unknownService", message: "there is no service \"\(name)\"")
        }
        let number = definitions.definition(of: machine.spec(of: id))?.reloadSignal ?? 1
        command(.reload(id, number), request, exchange) { _ in
            { _ in .result(0, "sent", "\(name) was asked to reload") }
        }
    }

    private func view(_ changes: [PlanChange], _ warnings: [String]) -> JSONValue {
        .object([
            "changes": .array(
                changes.map { change in
                    .object([
                        "service": .string(change.service.text),
                        "change": .string(change.kind.word),
                        "because": change.kind.reason.map { .string($0) } ?? .null,
                    ])
                }),
            "warnings": .array(warnings.map { .string($0) }),
        ])
    }
}

extension ControlExchange {
    fileprivate func refuse(_ lines: [String]) {
        respond(
            422,
            .object([
                "error": .object([
                    "code": .string("config"),
                    "message": .string(lines.joined(separator: "\n")),
                    "errors": .array(lines.map { .string($0) }),
                ])
            ]))
    }
}

extension PlanChange.Kind {
    /// One word for what happens.
    var word: String {
        switch self {
        case .added: "added"
        case .removed: "removed"
        case .changed: "changed"
        case .relaunched: "relaunched"
        case .updated: "updated"
        }
    }

    var reason: String? {
        switch self {
        case .relaunched(let name): "it needs \(name)"
        case .added, .removed, .changed, .updated: nil
        }
    }
}
