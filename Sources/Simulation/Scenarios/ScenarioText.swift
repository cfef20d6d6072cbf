import Stoic

/// A scenario as text: a config, and the options of `orchestrator simulate` that play it on it. The
/// config names no program: to a simulation every program is the same.
package struct ScenarioText: Sendable {
    private let scenario: Scenario

    package init(_ scenario: Scenario) { self.scenario = scenario }

    /// The command line, for a config in this file.
    package func commandLine(file: String = "orchestrator.yaml") -> String {
        let incidents = scenario.incidents.sorted { $0.at < $1.at }.map(\.option)
        let until = scenario.until == .seconds(600) ? [] : ["--until \(scenario.until.spelled)"]
        return
            (["orchestrator simulate --file \(file)", "--seed \(scenario.seed)"] + incidents
            + until).joined(separator: " ")
    }

    /// The config, as YAML.
    package var config: String {
        var lines = ["exitBudget: \(scenario.exitBudget.spelled)"]
        if scenario.stopsInParallel { lines.append("stopOrder: parallel") }
        lines.append("services:")
        for spec in scenario.specs {
            lines.append("  \(spec.name):")
            lines += service(spec).map { "    " + $0 }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func service(_ spec: ServiceSpec) -> [String] {
        let usual = ServiceSpec(spec.name, kind: spec.kind, readiness: spec.readiness)
        var lines = ["command: [program]"]
        lines += kind(spec)
        if !spec.needs.isEmpty {
            lines.append("needs:")
            lines += spec.needs.map { "  \($0.service): " + Self.flow(Self.need($0)) }
        }
        if spec.startAttempts != usual.startAttempts {
            lines.append("startAttempts: \(spec.startAttempts)")
        }
        if spec.stopTimeout != usual.stopTimeout {
            lines.append("stopTimeout: \(spec.stopTimeout.spelled)")
        }
        // The brain's default rolls back; a config says so for the project, and so does its.
        if spec.onStartFailure == .keep { lines.append("onStartFailure: keep") }
        if spec.ladder != usual.ladder {
            lines.append("stop: [\(spec.ladder.map(Self.rung).joined(separator: ", "))]")
        }
        if spec.restart != usual.restart { lines.append("restart: " + Self.restart(spec.restart)) }
        if spec.isEssential { lines.append("essential: true") }
        if !spec.startsAutomatically { lines.append("start: manual") }
        if let watchdog = spec.watchdog { lines.append("watchdog: \(watchdog.spelled)") }
        if let threshold = spec.liveThreshold {
            let behaviour = scenario.behaviours[spec.name] ?? .good
            let probe = [
                ("exec", "[probe]"), ("interval", behaviour.probeInterval.spelled),
                ("timeout", behaviour.probeTimeout.spelled), ("threshold", "\(threshold)"),
            ]
            lines.append("live: " + Self.flow(probe))
        }
        return lines + behaviour(spec)
    }

    private func kind(_ spec: ServiceSpec) -> [String] {
        switch spec.kind {
        case .service:
            var lines = spec.readiness == .reported ? ["ready: notify"] : []
            if spec.startTimeout != .seconds(30) {
                lines.append("startTimeout: \(spec.startTimeout.spelled)")
            }
            return lines
        case .oneshot(let reruns, let keepsTree):
            var lines = ["type: oneshot", "timeout: \(spec.startTimeout.spelled)"]
            if reruns { lines.append("rerun: withNeeds") }
            if keepsTree { lines.append("keepTree: true") }
            return lines
        }
    }

    private func behaviour(_ spec: ServiceSpec) -> [String] {
        let usual = Behaviour(of: spec)
        let given = scenario.behaviours[spec.name] ?? usual
        var members: [(String, String)] = []
        func add(_ key: String, _ value: Duration?, _ usual: Duration?) {
            if let value, value != usual { members.append((key, value.spelled)) }
        }
        add("launch", given.launch, usual.launch)
        add("ready", given.ready, usual.ready)
        if let exit = given.exits.first ?? nil, [exit] != usual.exits {
            members.append(("run", exit.after.spelled))
            if case .code(let code) = exit.status, code != 0 {
                members.append(("exitCode", "\(code)"))
            }
        }
        add("stop", given.term, usual.term)
        if given.term == nil { members.append(("ignoreTerm", "true")) }
        if given.tree == nil { members.append(("escape", "true")) }
        switch given.answer {
        case .exits: break
        case .only: members.append(("message", "answers"))
        case .none: if given.hasChannel { members.append(("message", "ignores")) }
        }
        let control = given.hasChannel ? ["control: true"] : []
        return control + (members.isEmpty ? [] : ["x-simulate: " + Self.flow(members)])
    }

    // MARK: Values

    private static func flow(_ members: [(String, String)]) -> String {
        "{" + members.map { "\($0.0): \($0.1)" }.joined(separator: ", ") + "}"
    }

    private static func need(_ need: Need) -> [(String, String)] {
        let usual = Need(need.service)
        var members: [(String, String)] = []
        if need.condition != usual.condition { members.append(("condition", "\(need.condition)")) }
        if !need.isRequired { members.append(("required", "false")) }
        if need.onNeedLost != usual.onNeedLost {
            members.append(("onNeedLost", "\(need.onNeedLost)"))
        }
        return members
    }

    private static func rung(_ rung: Rung) -> String {
        var members: [(String, String)] =
            switch rung.action {
            case .message: [("message", "true")]
            case .signal(let number, let target): [("signal", "\(number)"), ("to", "\(target)")]
            case .command: [("command", "[program]")]
            }
        if let wait = rung.wait { members.append(("wait", wait.spelled)) }
        return flow(members)
    }

    private static func restart(_ policy: RestartPolicy) -> String {
        var members = [("policy", "\(policy.mode)")]
        let usual = RestartPolicy()
        if policy.backoff != usual.backoff {
            members.append(
                (
                    "backoff",
                    flow([
                        ("initial", policy.backoff.base.spelled),
                        ("max", policy.backoff.cap.spelled),
                    ])
                ))
        }
        if policy.limitCount != usual.limitCount || policy.limitWindow != usual.limitWindow {
            members.append(
                (
                    "limit",
                    flow([
                        ("count", "\(policy.limitCount)"), ("window", policy.limitWindow.spelled),
                    ])
                ))
        }
        if policy.resetAfter != usual.resetAfter {
            members.append(("resetAfter", policy.resetAfter.spelled))
        }
        return flow(members)
    }
}
