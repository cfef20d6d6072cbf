import EventLoop
import Manifest
import Stoic

/// A changed config: read, compared, and given to the brain as a plan.
extension Engine {
    /// Has the brain carry out what changed in the config. A bad config changes nothing.
    /// - Parameters:
    ///   - answer: hears what came of it, in a later turn.
    func reload(
        by requester: String, rollsBack: Bool,
        answer: @escaping (ReloadOutcome) -> Void = { _ in }
    ) {
        upstream.reloading()
        readConfig { [weak self] reading in
            guard let self else { return }
            upstream.reloaded()
            switch plan(reading, rollsBack: rollsBack) {
            case .failure(let problems):
                tell(
                    "plan.refused", .error,
                    "cannot reload: the config has \(problems.lines.count) error(s); "
                        + "nothing changed",
                    [("errors", .list(problems.lines.map { .text($0) }))])
                answer(.refused(problems.lines))
            case .success(let planned): carryOut(planned, by: requester, answer)
            }
        }
    }

    private func carryOut(
        _ planned: Planned, by requester: String, _ answer: @escaping (ReloadOutcome) -> Void
    ) {
        let view = view(machine.changes(planned.plan), of: planned)
        inbox.post(Command(.plan(planned.plan), by: requester)) { [weak self] decisions in
            guard let self else { return }
            for case .refused(_, _, let refusal) in decisions.map(\.what) {
                return answer(.notNow(refusal))
            }
            // Only now is it the config in force. The launches it leads to come after this.
            project = planned.project
            definitions.replace(planned.project)
            answer(.planned(view, decisions))
        }
    }

    /// A config that was read, and what it means to the brain.
    private struct Planned {
        let project: ProjectDefinition
        let plan: Plan
        let warnings: [String]
    }

    private func plan(
        _ reading: ConfigReading, rollsBack: Bool
    ) -> Result<Planned, ConfigReading.Problems> {
        switch reading.result {
        case .failure(let problems): return .failure(problems)
        case .success(let config):
            guard config.project.name == project.name,
                config.project.stateDirectory == project.stateDirectory
            else {
                let words =
                    "\(project.file): name and stateDirectory cannot change while the project "
                    + "runs: use 'orchestrator down', then 'orchestrator up'"
                return .failure(ConfigReading.Problems(lines: [words]))
            }
            do {
                let plan = try Plan(
                    sharing: config.project.services.map(\.$spec), rollsBack: rollsBack)
                return .success(
                    Planned(project: config.project, plan: plan, warnings: config.warnings))
            } catch {
                return .failure(ConfigReading.Problems(lines: ["\(error)"]))
            }
        }
    }

    // MARK: Reading

    /// Reads the config on a thread of the pool: its disk may be a network's. One reading at a
    /// time; who asks during one gets the next, since the file may have changed since that began.
    private func readConfig(_ then: @escaping (ConfigReading) -> Void) {
        configReaders.append(then)
        if !isReadingConfig { beginReading() }
    }

    private func beginReading() {
        let readers = configReaders
        configReaders = []
        isReadingConfig = true
        let (file, environment) = (project.file, ownEnvironment)
        do {
            try queueWork(loop, { ConfigReading(file: file, environment: environment) }) {
                [weak self] in
                self?.wasRead($0, readers)
            }
        } catch {
            wasRead(ConfigReading(failure: "cannot read \(file) now: \(error)"), readers)
        }
    }

    private func wasRead(_ reading: ConfigReading, _ readers: [(ConfigReading) -> Void]) {
        isReadingConfig = false
        for reader in readers { reader(reading) }
        if !configReaders.isEmpty { beginReading() }
    }

    // MARK: Verbs

    func plan(_ exchange: ControlExchange) {
        readConfig { [weak self] reading in
            guard let self else { return }
            switch plan(reading, rollsBack: false) {
            case .failure(let problems): exchange.refuse(problems.lines)
            case .success(let planned):
                exchange.respond(200, view(machine.changes(planned.plan), of: planned))
            }
        }
    }

    func reload(_ request: ControlRequest, _ exchange: ControlExchange) {
        if let name = request.body?["service"]?.string {
            return reloadService(name, request, exchange)
        }
        let rollsBack = request.body?["rollback"]?.bool ?? false
        reload(by: request.requester, rollsBack: rollsBack) { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .refused(let lines): exchange.refuse(lines)
            case .notNow(let refusal):
                exchange.fail(409, code: refusal.code, message: refusal.words)
            case .planned(let view, let decisions):
                let waiter = EngineWaiter(exchange, services: nil) { $0.planLine }
                exchange.send(view)
                tell(waiter, decisions)
                add(waiter, request)
            }
        }
    }

    private var planLine: JSONValue? {
        guard machine.isPlanSettled else { return nil }
        return awaited(machine.services.filter(machine.isWanted), "as the config says") {
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
                404, code: "unknownService", message: "no service \"\(name)\"")
        }
        let number = definitions.definition(of: machine.spec(of: id))?.reloadSignal ?? 1
        command(.reload(id, number), request, exchange) { _ in
            { _ in .result(0, "sent", "\(name) was asked to reload") }
        }
    }

    /// Made before the new config is in force: what differs is told from the one that is.
    private func view(_ changes: [PlanChange], of planned: Planned) -> JSONValue {
        let next = Dictionary(
            planned.project.services.map { ($0.spec.name, $0) }, uniquingKeysWith: { $1 })
        return .object([
            "changes": .array(
                changes.map { change in
                    .object([
                        "service": .string(change.service.text),
                        "change": .string(change.kind.word),
                        "because": reason(of: change, next).map { .string($0) } ?? .null,
                    ])
                }),
            "warnings": .array(planned.warnings.map { .string($0) }),
        ])
    }

    /// Why something happens to a service; of its own change, the keys that differ.
    private func reason(
        of change: PlanChange, _ next: [ServiceName: ServiceDefinition]
    ) -> String? {
        switch change.kind {
        case .added, .removed: return nil
        case .relaunched(let name): return "it needs \(name)"
        case .changed, .updated:
            guard let id = machine.service(named: change.service),
                let old = definitions.definition(of: machine.spec(of: id)),
                let new = next[change.service]
            else { return nil }
            let keys = new.keysThatDiffer(from: old)
            return keys.isEmpty ? nil : keys.joined(separator: ", ")
        }
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
}

extension ServiceDefinition {
    /// The keys of the config whose meaning is another one than in `old`. A variable of an
    /// environment file counts as its file.
    func keysThatDiffer(from old: ServiceDefinition) -> [String] {
        func set(_ launch: LaunchDefinition, files: Bool) -> [LaunchDefinition.EnvironmentEntry] {
            launch.environment.filter { if case .file = $0 { files } else { !files } }
        }
        let pairs: [(String, Bool)] = [
            ("type", spec.kind == old.spec.kind),
            ("command", launch.command == old.launch.command),
            ("workingDirectory", launch.workingDirectory == old.launch.workingDirectory),
            ("environment", set(launch, files: false) == set(old.launch, files: false)),
            ("environmentFile", set(launch, files: true) == set(old.launch, files: true)),
            ("user", launch.user == old.launch.user), ("group", launch.group == old.launch.group),
            ("umask", launch.umask == old.launch.umask), ("nice", launch.nice == old.launch.nice),
            ("limits", launch.limits == old.launch.limits),
            ("isolate", launch.isolatesInCgroup == old.launch.isolatesInCgroup),
            ("ready", ready == old.ready), ("needs", spec.needs == old.spec.needs),
            ("control", hasControlChannel == old.hasControlChannel),
            ("watchdog", spec.watchdog == old.spec.watchdog),
            ("live", live == old.live && spec.liveThreshold == old.spec.liveThreshold),
            ("output", output == old.output),
            ("provides", provides == old.provides),
            ("stop", spec.ladder == old.spec.ladder && stopCommands == old.stopCommands),
            ("stopTimeout", spec.stopTimeout == old.spec.stopTimeout),
            ("startTimeout", spec.startTimeout == old.spec.startTimeout),
            ("startTimeoutMax", spec.startTimeoutMax == old.spec.startTimeoutMax),
            ("startAttempts", spec.startAttempts == old.spec.startAttempts),
            ("restart", spec.restart == old.spec.restart),
            ("essential", spec.isEssential == old.spec.isEssential),
            ("onStartFailure", spec.onStartFailure == old.spec.onStartFailure),
            ("start", spec.startsAutomatically == old.spec.startsAutomatically),
            ("reload", reloadSignal == old.reloadSignal),
            ("description", description == old.description),
        ]
        let keys = pairs.filter { !$0.1 }.map(\.0)
        // The files are the same ones, so what is in them is not.
        guard keys.isEmpty, spec.launchDigest != old.spec.launchDigest else { return keys }
        return ["the content of environmentFile"]
    }
}
