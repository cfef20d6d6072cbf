import Glibc
import Stoic

/// Turns the checked keys of a whole file into the project, checking what takes more than one
/// service to see.
struct ProjectReader {
    let context: LoadContext
    let file: String
    let root: CheckedObject

    private var log: DiagnosticLog { context.log }

    /// The project; only to be used if nothing was reported.
    func read() -> ProjectDefinition {
        var project = ProjectDefinition(file: file, directory: context.directory, services: [])
        project.name = readName()
        if let budget = root["exitBudget"]?.duration {
            project.exitBudget = budget
            project.isExitBudgetGiven = true
        }
        project.stopOrder = root["stopOrder"]?.text == "parallel" ? .parallel : .reverse
        project.onStartFailure = root["onStartFailure"]?.text.map { .init(word: $0) } ?? .rollback
        project.stateDirectory = root["stateDirectory"]?.text.map(context.path)
        let entries = root["services"]?.map ?? []
        if let services = root["services"], entries.isEmpty, !log.hasErrors {
            log.error(services, "there is no service in it")
        }
        let merge = ServiceMerge(
            log: log, defaults: root["defaults"]?.object, environment: root["environment"],
            entries: entries)
        var readers = merge.merged().map { keys in
            ServiceReader(
                keys, context, environment: root["environment"],
                onStartFailure: project.onStartFailure)
        }
        project.services = readers.indices.map { readers[$0].read() }
        checkProjectEnvironment()
        WholeCheck(log: log, readers: readers, definitions: project.services).run()
        return project
    }

    private func readName() -> String? {
        guard let given = root["name"], let name = given.text else { return nil }
        if !isServiceName(name) {
            log.error(
                given, "\(quoted(name)) cannot be the name of a project",
                suggestion: "letters, digits, -, _ and ., at most 64, a letter or a digit first")
        }
        return name
    }

    /// The project has no needs, so its variables cannot hold values of services.
    private func checkProjectEnvironment() {
        guard let environment = root["environment"] else { return }
        let values = environment.list ?? environment.map?.map(\.value) ?? []
        for value in values where value.template?.references.isEmpty == false {
            log.error(
                value, "values of services cannot be used in the variables of the project",
                suggestion: "use them in the environment of a service that needs theirs")
        }
    }
}

/// The checks between services: the graph, the values they pass each other, the files they write.
struct WholeCheck {
    let log: DiagnosticLog
    let readers: [ServiceReader]
    let definitions: [ServiceDefinition]

    func run() {
        checkGraph()
        checkReferences()
        checkOutputFiles()
    }

    private var names: [String] { definitions.map(\.spec.name.text) }

    private func checkGraph() {
        do throws(DependencyGraphError) {
            _ = try DependencyGraph(definitions.map(\.spec))
        } catch {
            report(error)
        }
    }

    private func report(_ error: DependencyGraphError) {
        let byName = Dictionary(
            readers.map { ($0.keys.name, $0) }, uniquingKeysWith: { first, _ in first })
        let names = self.names
        for edge in error.unknownNeeds {
            guard let spot = byName[edge.service]?.needSpots[edge.need] else { continue }
            log.error(
                spot, "no service \(quoted(edge.need.text))", near: edge.need.text, among: names)
        }
        for cycle in error.cycles {
            guard let first = cycle.first, let reader = byName[first] else { continue }
            let next = cycle.count > 1 ? cycle[1] : first
            let spot = reader.needSpots[next] ?? Spot(reader.keys)
            let path = DependencyGraphError.spelledOut(cycle)
            log.error(spot, "services need each other in a circle: \(path)")
        }
        // A name or a need given twice was reported where it was read, with both places.
    }

    private func checkReferences() {
        guard readers.contains(where: { !$0.uses.isEmpty }) else { return }
        let byName = Dictionary(
            definitions.map { ($0.spec.name, $0) }, uniquingKeysWith: { first, _ in first })
        for (reader, definition) in zip(readers, definitions) {
            for use in reader.uses { check(use, of: definition, byName) }
        }
    }

    private func check(
        _ use: ServiceReader.ReferenceUse, of user: ServiceDefinition,
        _ byName: [ServiceName: ServiceDefinition]
    ) {
        let reference = "${\(use.service).\(use.key)}"
        guard let provider = byName[use.service] else {
            return log.error(
                use, "\(reference): no service \(quoted(use.service.text))",
                near: use.service.text, among: names)
        }
        guard let need = user.spec.needs.first(where: { $0.service == use.service }) else {
            return log.error(
                use, "\(reference): \(user.spec.name) does not need \(use.service)",
                suggestion: "add \(use.service) to the needs of \(user.spec.name)")
        }
        guard provider.provides[use.key] != nil else {
            let keys = provider.provides.keys.sorted()
            let state = keys.isEmpty ? "no value" : alternatives(keys)
            return log.error(
                use, "\(reference): \(use.service) provides \(state)", near: use.key, among: keys)
        }
        if !need.isRequired {
            log.warning(
                use,
                "\(reference): \(user.spec.name) cannot start without this value, although "
                    + "its need of \(use.service) is not required")
        }
    }

    private func checkOutputFiles() {
        var writers: [String: ServiceName] = [:]
        for (reader, definition) in zip(readers, definitions) {
            guard let named = definition.output.file, let given = reader.keys["output"],
                let file = logPlace(named)
            else { continue }
            if let first = writers[file] {
                log.error(
                    given,
                    "\(definition.spec.name) would write to the log file of \(first): \(named)"
                )
            }
            writers[file] = definition.spec.name
        }
    }
}

/// What makes two names one log file: links and `..` resolved as far as the way exists. `nil` for a
/// device or a FIFO, which may have any number of writers.
private func logPlace(_ path: String) -> String? {
    if let real = realPath(path) {
        // SAFETY: the path lives through the call, which fills a variable of the size it expects.
        var status = stat()
        guard unsafe stat(real, &status) == 0, status.st_mode & S_IFMT != S_IFREG,
            status.st_mode & S_IFMT != S_IFDIR
        else { return real }
        return nil
    }
    guard let parent = parentDirectory(of: path), let real = realPath(parent) else { return path }
    return "\(real)/\(path.split(separator: "/").last ?? "")"
}

private func realPath(_ path: String) -> String? {
    // SAFETY: the text is allocated for us, copied, and freed once.
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
}
