internal import Manifest
internal import Orchestrator
internal import Stoic

/// A loaded project in the words of the config, every default written out. What it prints loads to
/// the same project.
enum EffectiveConfig {
    /// The whole project.
    static func json(_ project: ProjectDefinition) -> JSONValue {
        var members = JSONObject([])
        members["name"] = project.name.map(JSONValue.string)
        members["exitBudget"] = duration(project.exitBudget)
        members["stopOrder"] = .string(project.stopOrder.rawValue)
        members["onStartFailure"] = .string(project.onStartFailure.word)
        members["stateDirectory"] = project.stateDirectory.map { .string(escaped($0)) }
        let services = project.services.map {
            JSONObject.Member(key: $0.spec.name.text, value: service($0))
        }
        members["services"] = .object(JSONObject(services))
        return .object(members)
    }

    private static func service(_ service: ServiceDefinition) -> JSONValue {
        let spec = service.spec
        var members = JSONObject([])
        members["type"] = spec.kind == .service ? "service" : "oneshot"
        members["description"] = service.description.map(JSONValue.string)
        launch(service.launch, &members)
        if !spec.needs.isEmpty { members["needs"] = needs(spec.needs) }
        members["start"] = spec.startsAutomatically ? "auto" : "manual"
        starting(service, &members)
        stopping(service, &members)
        members["restart"] = restart(spec.restart)
        members["essential"] = .bool(spec.isEssential)
        members["watchdog"] = spec.watchdog.map(duration)
        members["live"] = service.live.map { live($0.wrappedValue, spec) }
        members["output"] = output(service.output)
        members["x-simulate"] = service.simulated.map { simulated($0.wrappedValue, service) }
        return .object(members)
    }

    private static func simulated(
        _ given: SimulatedDefinition, _ service: ServiceDefinition
    ) -> JSONValue {
        var members = JSONObject([])
        members["launch"] = given.launch.map(duration)
        members["ready"] = given.ready.map(duration)
        members["run"] = given.run.map(duration)
        if given.exitCode != 0 { members["exitCode"] = .integer(Int64(given.exitCode)) }
        members["stop"] = given.stop.map(duration)
        if given.ignoresTerm { members["ignoreTerm"] = true }
        members["escape"] = .bool(given.escapes)
        if service.hasControlChannel { members["message"] = .string(given.message.rawValue) }
        return .object(members)
    }

    // MARK: Launch

    private static func launch(_ launch: LaunchDefinition, _ members: inout JSONObject) {
        members["command"] = command(launch.command)
        members["workingDirectory"] = .string(escaped(launch.workingDirectory))
        var inherited: [JSONValue] = []
        var files: [JSONValue] = []
        var variables: [JSONObject.Member] = []
        var inheritsAll = false
        for entry in launch.environment {
            switch entry {
            case .inheritAll: inheritsAll = true
            case .inherited(let name): inherited.append(.string(name))
            case .file(let path, let isRequired):
                let path = JSONValue.string(escaped(path))
                files.append(isRequired ? path : ["path": path, "required": false])
            case .set(let name, let value):
                variables.removeAll { $0.key == name }
                variables.append(.init(key: name, value: .string(text(value))))
            }
        }
        members["inheritEnvironment"] =
            inheritsAll ? true : inherited.isEmpty ? false : .array(inherited)
        if !files.isEmpty { members["environmentFile"] = .array(files) }
        if !variables.isEmpty { members["environment"] = .object(JSONObject(variables)) }
        members["user"] = launch.user.map { .string(escaped($0)) }
        members["group"] = launch.group.map { .string(escaped($0)) }
        members["umask"] = launch.umask.map { .string("0" + String($0, radix: 8)) }
        members["nice"] = launch.nice.map { .integer(Int64($0)) }
        if !launch.limits.isEmpty { members["limits"] = limits(launch.limits) }
    }

    private static func limits(
        _ limits: [String: LaunchDefinition.ResourceLimit]
    ) -> JSONValue {
        func word(_ limit: UInt64?) -> JSONValue { .string(limit.map(String.init) ?? "unlimited") }
        let members = limits.sorted { $0.key < $1.key }.map { name, limit in
            JSONObject.Member(
                key: name, value: ["soft": word(limit.soft), "hard": word(limit.hard)])
        }
        return .object(JSONObject(members))
    }

    private static func needs(_ needs: [Need]) -> JSONValue {
        let members = needs.map { need in
            let particulars: JSONValue = [
                "condition": .string(need.condition.word), "required": .bool(need.isRequired),
                "onNeedLost": .string(need.onNeedLost.word),
            ]
            return JSONObject.Member(key: need.service.text, value: particulars)
        }
        return .object(JSONObject(members))
    }

    private static func starting(_ service: ServiceDefinition, _ members: inout JSONObject) {
        let spec = service.spec
        switch spec.kind {
        case .service:
            members["ready"] = ready(service.ready)
            members["startTimeout"] = duration(spec.startTimeout)
            members["startTimeoutMax"] = duration(spec.startTimeoutMax)
        case .oneshot(let reruns, let keepsTree):
            members["timeout"] = duration(spec.startTimeout)
            if reruns { members["rerun"] = "withNeeds" }
            members["keepTree"] = .bool(keepsTree)
        }
        members["startAttempts"] = .integer(Int64(spec.startAttempts))
        members["onStartFailure"] = .string(spec.onStartFailure.word)
        guard !service.provides.isEmpty else { return }
        let values = service.provides.sorted { $0.key < $1.key }.map { key, value in
            JSONObject.Member(
                key: key, value: value.map { .string(text($0)) } ?? ["from": "ready"])
        }
        members["provides"] = .object(JSONObject(values))
    }

    private static func live(_ live: LiveDefinition, _ spec: ServiceSpec) -> JSONValue {
        var members = JSONObject([])
        switch live.probe {
        case .tcp(let host, let port): members["tcp"] = address(host, port)
        case .unix(let path): members["unix"] = .string(escaped(path))
        case .exec(let words): members["exec"] = command(words)
        }
        members["interval"] = duration(live.interval)
        members["timeout"] = duration(live.timeout)
        members["threshold"] = spec.liveThreshold.map { .integer(Int64($0)) }
        return .object(members)
    }

    private static func address(_ host: String, _ port: UInt16) -> JSONValue {
        .string(escaped(host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"))
    }

    private static func ready(_ ready: ReadyDefinition) -> JSONValue {
        switch ready {
        case .started(let least): ["started": ["for": duration(least)]]
        case .notify: ["notify": true]
        case .descriptor(let number): ["fd": .integer(Int64(number))]
        case .tcp(let host, let port):
            ["tcp": address(host, port)]
        case .unix(let path): ["unix": .string(escaped(path))]
        case .exec(let words, let timeout):
            ["exec": ["command": command(words), "timeout": duration(timeout)]]
        case .log(let expression): ["log": .string(expression)]
        case .file(let path): ["file": .string(escaped(path))]
        case .delay(let delay): ["delay": duration(delay)]
        case .completion: ["started": [:]]
        case .all(let parts): ["all": .array(parts.map(self.ready))]
        case .any(let parts): ["any": .array(parts.map(self.ready))]
        }
    }

    // MARK: Stop

    private static func stopping(_ service: ServiceDefinition, _ members: inout JSONObject) {
        members["stopTimeout"] = duration(service.spec.stopTimeout)
        // The standard ladder is what absence means; without a channel its message would be odd.
        if service.spec.ladder != Rung.standard {
            members["stop"] = .array(service.spec.ladder.map { rung($0, service) })
        }
        members["control"] = .bool(service.hasControlChannel)
        members["reload"] = .string(signalName(service.reloadSignal))
    }

    private static func rung(_ rung: Rung, _ service: ServiceDefinition) -> JSONValue {
        var members = JSONObject([])
        switch rung.action {
        case .message: members["message"] = true
        case .signal(let number, let target):
            members["signal"] = .string(signalName(number))
            members["to"] = .string(target.word)
        case .command(let index):
            let commands = service.stopCommands
            members["command"] = command(commands.indices.contains(index) ? commands[index] : [])
        }
        members["wait"] = rung.wait.map(duration)
        return .object(members)
    }

    private static func restart(_ policy: RestartPolicy) -> JSONValue {
        let backoff = policy.backoff
        return [
            "policy": .string(policy.mode.word),
            "backoff": [
                "initial": duration(backoff.base), "factor": number(backoff.factor),
                "max": duration(backoff.cap), "jitter": number(1 - backoff.jitter.lowerBound),
            ],
            "resetAfter": duration(policy.resetAfter),
            "limit": [
                "count": .integer(Int64(policy.limitCount)), "window": duration(policy.limitWindow),
            ],
        ]
    }

    private static func output(_ output: OutputDefinition) -> JSONValue {
        var members = JSONObject([])
        members["file"] = output.file.map { .string(escaped($0)) }
        members["maxSize"] = .string(sizeText(output.maxBytes))
        members["keep"] = .integer(Int64(output.keptFiles))
        members["maxLine"] = .string(sizeText(UInt64(output.maxLineBytes)))
        members["separate"] = .bool(output.separatesErrors)
        return .object(members)
    }

    // MARK: Values

    private static func duration(_ duration: Duration) -> JSONValue {
        .string(durationText(duration))
    }

    /// Whole numbers without a fraction; others rounded to what a person would have written.
    private static func number(_ value: Double) -> JSONValue {
        let rounded = (value * 1e9).rounded() / 1e9
        return rounded == rounded.rounded() && abs(rounded) < 1e15
            ? .integer(Int64(rounded)) : .number(rounded)
    }

    private static func command(_ words: [Template]) -> JSONValue {
        .array(words.map { .string(text($0)) })
    }

    /// A template as it is written; a dollar of the text itself is doubled.
    private static func text(_ template: Template) -> String {
        template.pieces.map { piece in
            switch piece {
            case .literal(let text): escaped(text)
            case .reference(let service, let key): "${\(service).\(key)}"
            }
        }.joined()
    }

    private static func escaped(_ text: String) -> String { text.replacing("$", with: "$$") }
}

extension CommandRun {
    /// `config`: the project with every default, as YAML or JSON.
    func config() throws(Failure) -> ExitCode {
        let (project, warnings) = try loadConfig()
        let value = EffectiveConfig.json(project)
        if !console.json {
            for warning in warnings { console.note(safeForTerminal(warning.description)) }
        }
        console.answer(raw: console.json ? value.description + "\n" : YAMLText.text(value))
        return .done
    }
}
