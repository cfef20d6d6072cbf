import Stoic

extension ServiceReader {
    /// What the process finds in its environment, later entries winning: what it inherits, the
    /// project's variables, its files, and its own variables over those it was given by others.
    mutating func readEnvironment() -> [LaunchDefinition.EnvironmentEntry] {
        var entries = inherited()
        if let projectEnvironment { entries += variables(projectEnvironment) }
        entries += files()
        for layer in keys.environments { entries += variables(layer) }
        return entries
    }

    private func inherited() -> [LaunchDefinition.EnvironmentEntry] {
        guard let given = keys["inheritEnvironment"] else { return [.inheritAll] }
        if let all = given.flag { return all ? [.inheritAll] : [] }
        return (given.list ?? []).compactMap { item in
            guard let name = item.text else { return nil }
            guard isVariableName(name) else {
                log.error(item, "\(quoted(name)) is not the name of a variable")
                return nil
            }
            return .inherited(name)
        }
    }

    private mutating func variables(
        _ environment: Checked
    ) -> [LaunchDefinition.EnvironmentEntry] {
        var entries: [LaunchDefinition.EnvironmentEntry] = []
        for entry in environment.map ?? [] {
            warnIfOurs(entry.key, entry.spot)
            entries.append(.set(entry.key, template(entry.value)))
        }
        var places: [String: Place] = [:]
        for item in environment.list ?? [] {
            guard let (name, entry) = variable(item) else { continue }
            if let first = places[name] {
                log.error(item, "\(quoted(name)) is already given at \(first)")
            }
            places[name] = item.place
            warnIfOurs(name, item)
            entries.append(entry)
        }
        return entries
    }

    /// `NAME=VALUE`, or a bare `NAME` that is passed on.
    private mutating func variable(
        _ item: Checked
    ) -> (name: String, entry: LaunchDefinition.EnvironmentEntry)? {
        let whole = template(item)
        guard case .literal(let head)? = whole.pieces.first else {
            log.error(item, "the name of a variable cannot be another service's value")
            return nil
        }
        let name = String(head.prefix { $0 != "=" })
        guard isVariableName(name) else {
            log.error(
                item, "\(quoted(name)) is not the name of a variable",
                suggestion: "write NAME=VALUE")
            return nil
        }
        guard head.utf8.count > name.utf8.count else {
            guard whole.pieces.count == 1 else {
                log.error(item, "there is no = after \(name)", suggestion: "write NAME=VALUE")
                return nil
            }
            return (name, .inherited(name))
        }
        var pieces = Array(whole.pieces.dropFirst())
        let rest = String(decoding: head.utf8.dropFirst(name.utf8.count + 1), as: UTF8.self)
        if !rest.isEmpty || pieces.isEmpty { pieces.insert(.literal(rest), at: 0) }
        return (name, .set(name, Template(pieces)))
    }

    private func warnIfOurs(_ name: String, _ spot: some Located) {
        guard Self.ours.contains(name) || name.hasPrefix("ORCHESTRATOR_") else { return }
        log.warning(spot, "\(name) is set by the orchestrator at launch; this value is not used")
    }

    private static let ours: Set<String> = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID",
        "LISTEN_FDNAMES",
    ]

    private mutating func files() -> [LaunchDefinition.EnvironmentEntry] {
        guard let given = keys["environmentFile"] else { return [] }
        var entries: [LaunchDefinition.EnvironmentEntry] = []
        for item in given.list ?? [given] {
            let named = item.object?["path"] ?? item
            guard let path = named.text.map(context.path) else { continue }
            let isRequired = item.object?["required"]?.flag ?? true
            entries.append(.file(path, isRequired: isRequired))
            switch context.environmentFiles.digest(path) {
            case .success(let digest): digests[path] = digest
            case .failure(.missing) where !isRequired: break
            case .failure(.malformed(let problems)): problems.forEach(log.add)
            case .failure(let error): log.error(named, error.description)
            }
        }
        return entries
    }
}
