internal import Orchestrator

extension StatusReport {
    /// For people: the project in a line, then a table.
    func text(_ style: Style) -> String {
        var table = TextTable(["SERVICE", "STATE", "PID", "READY FOR", "RESTARTS", "REASON"])
        for service in services {
            table.add([
                .init(service.name, .bold), .init(service.stateText, service.color),
                .init(service.pid.map(String.init) ?? ""),
                .init(service.readyFor.map(humanDuration) ?? ""),
                .init(service.restarts.flatMap { $0 > 0 ? String($0) : nil } ?? ""),
                .init(service.reasonText),
            ])
        }
        guard !services.isEmpty else { return heading + "\nno services" }
        return heading + "\n\n" + table.text(style)
    }

    /// `app is up for 2 h 3 min (engine pid 1234, /srv/app/orchestrator.yaml)`.
    private var heading: String {
        let since = project.since.map { " for " + humanDuration($0) } ?? ""
        let file = project.file == project.name ? nil : project.file
        let particulars = [project.pid.map { "engine pid \($0)" }, file].compactMap { $0 }
        let inside = particulars.isEmpty ? "" : " (\(particulars.joined(separator: ", ")))"
        let name = project.name ?? "the project"
        return safeForTerminal("\(name) is \(project.state ?? "running")\(since)\(inside)")
    }
}

extension StatusReport.Service {
    /// One or two words: what is known of `up` is its health.
    var stateText: String {
        guard state == "up" else { return Self.spaced(state) }
        return Self.spaced(health ?? "up")
    }

    /// `backingOff` is a word of the machine; people get `backing off`.
    private static func spaced(_ word: String) -> String {
        word.reduce("") { $0 + ($1.isUppercase ? " " + $1.lowercased() : String($1)) }
    }

    var color: Style.Color {
        switch state {
        case "up": health == nil || health == "ready" ? .green : .yellow
        case "waiting", "starting", "stopping", "backingOff": .yellow
        case "abandoned", "failed", "gaveUp": .red
        case "ended": isBad ? .red : .faint
        default: .faint
        }
    }

    private var isBad: Bool {
        let words = (reason ?? "") + (health ?? "")
        return words.contains("failed") || words.contains("gave up")
    }

    /// Why it is in its state, then what comes next, or what it says about itself.
    var reasonText: String {
        var parts = [reason].compactMap { $0 }
        if parts.isEmpty, !blockers.isEmpty { parts = [blockers.joined(separator: ", ")] }
        if let nextStart {
            let number = attempt.map { " (attempt \($0))" } ?? ""
            parts.append("next start in \(humanDuration(nextStart))\(number)")
        }
        if let killIn { parts.append("SIGKILL in \(humanDuration(killIn))") }
        if parts.isEmpty, let lastExit, state != "up" { parts.append(lastExit) }
        if let status, !status.isEmpty { parts.append(status) }
        if parts.isEmpty, let description { parts.append(description) }
        return parts.joined(separator: "; ")
    }
}

extension CommandRun {
    /// `status`: what the engine says about its services, or about those that were named.
    func status() throws(Failure) -> ExitCode {
        let access = try engineAccess()
        let client = try access.connect()
        let response: ControlResponse
        do { response = try client.request("GET", ["v1", "status"]) } catch {
            throw Failure(error)
        }
        guard response.isSuccess, let body = response.body else {
            throw Failure(response, names: access.names, asked: invocation.arguments)
        }
        let chosen = try only(invocation.arguments, of: body)
        if console.json {
            console.answer(chosen.description)
        } else if let report = StatusReport(chosen) {
            console.answer(report.text(console.style))
        } else {
            throw Failure(.defect, "cannot read the engine's status: it lists no services")
        }
        return .done
    }

    /// The same status with these services, in the order of the project; all when none is named.
    private func only(_ names: [String], of status: JSONValue) throws(Failure) -> JSONValue {
        guard !names.isEmpty, var members = status.object else { return status }
        let services = members["services"]?.array ?? []
        let known = services.compactMap { $0["name"]?.string }
        for name in names where !known.contains(name) { throw unknownService(name, known) }
        let chosen = services.filter { names.contains($0["name"]?.string ?? "") }
        members["services"] = .array(chosen)
        return .object(members)
    }
}
