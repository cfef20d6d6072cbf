import EventLoop
import Glibc
internal import Manifest
internal import Orchestrator
internal import Stoic

/// Where the engine of a project is found, and what is known of the project without it.
struct EngineAccess {
    /// The sockets it may answer on, in the order they are tried.
    let sockets: [String]
    /// The services of the config, for suggestions; empty when the config cannot be read.
    let names: [String]
    /// Says whether an engine runs, whether it answers or not.
    private let lockFile: String
    /// The logs of the services, in their order.
    private let stored: [(name: String, log: StoredLog)]
    /// Where an engine leaves the record of its launches.
    private let state: String
    /// Where it leaves its events.
    private let events: String
    /// The config, as the user named it.
    private let file: String
    /// Where engines of other projects answer: one of them may run this very file.
    private let others: () -> [String]
    /// Whether the project has a name, which another config may have as well.
    private let isNamed: Bool
    /// Why the config cannot be read, although the engine may well run.
    private let configError: ConfigError?

    /// Looks for the project of `file`. A config that was broken while its engine runs must not
    /// keep anybody from stopping it: then, and when its name has changed meanwhile, it is found by
    /// the file that the engine says it runs.
    init(file: String, environment: [String: String]) throws(Failure) {
        var project: ProjectDefinition?
        var problem: ConfigError?
        do {
            project = try loadProject(file: file, environment: environment).project
        } catch {
            problem = error
        }
        self.file = file
        configError = problem
        isNamed = project?.name != nil
        names = project?.services.map(\.spec.name.text) ?? []
        do throws(ProjectError) {
            let identity = try ProjectIdentity(file: file, name: project?.name)
            let directories = try ProjectDirectories(
                identity, stateDirectory: project?.stateDirectory, environment: environment)
            lockFile = directories.lockFile
            state = directories.state
            events = directories.events
            sockets = [directories.controlSocket] + Self.announced(directories)
            stored = (project?.services ?? []).map {
                ($0.spec.name.text, StoredLog(of: $0, in: directories))
            }
            others = { directories.otherControlSockets() }
        } catch {
            throw problem.map { Failure($0) } ?? Failure(error)
        }
    }

    /// The engine wrote its socket into the lock: it may have been started with another
    /// XDG_RUNTIME_DIR than ours.
    private static func announced(_ directories: ProjectDirectories) -> [String] {
        do {
            guard let holder = try InstanceLock.currentHolder(of: directories.lockFile) else {
                return []
            }
            return holder.socket == directories.controlSocket ? [] : [holder.socket]
        } catch {
            // A lock we may not read says nothing about the socket, which is tried anyway.
            return []
        }
    }

    /// A connection to the engine; `nil` when nothing runs.
    func connectIfRunning() throws(Failure) -> ControlClient? {
        for socket in sockets {
            do { return try ControlClient(path: socket) } catch {
                guard case .nothingRuns = error else { throw Failure(error) }
            }
        }
        return nil
    }

    /// How long an engine that has the project's lock may take until it answers.
    private static var patience: Duration { .seconds(2) }
    /// How often it is tried meanwhile, in milliseconds.
    private static var tryEvery: CInt { 10 }

    /// A connection to the engine.
    func connect() throws(Failure) -> ControlClient {
        if let client = try connectPatiently() { return client }
        if let client = connectByFile() { return client }
        throw nothingRunsNow()
    }

    /// A connection to the engine; `nil` when nothing runs. One that has just taken the lock has
    /// its socket still to make, and one that ends has removed it: either is given a moment.
    func connectPatiently() throws(Failure) -> ControlClient? {
        let deadline = awakeTime() + Self.patience
        while true {
            if let client = try connectIfRunning() { return client }
            guard isHeld else { return nil }
            guard awakeTime() < deadline else {
                throw Failure(
                    .timedOut,
                    "the engine of this project holds its lock \(safeForTerminal(lockFile)) and "
                        + "does not answer: waited \(humanDuration(Self.patience))",
                    hint: "The lock names its process.")
            }
            poll(nil, 0, Self.tryEvery)
        }
    }

    /// Returns when no engine has the project any more, so that the next `up` can take it: after
    /// its last answer an engine still removes its sockets. At most `patience`.
    func waitForEnd() {
        let deadline = awakeTime() + Self.patience
        while isHeld, awakeTime() < deadline { poll(nil, 0, Self.tryEvery) }
    }

    private var isHeld: Bool {
        do { return try InstanceLock.currentHolder(of: lockFile) != nil } catch .alreadyRunning {
            return true
        } catch {
            // A lock we may not read: whoever holds it is not ours to ask either.
            return false
        }
    }

    /// The logs on disk of the services with these names, or of all.
    func storedLogs(_ wanted: [String]) throws(Failure) -> [StoredLog] {
        if let configError { throw Failure(configError) }
        if let name = wanted.first(where: { !names.contains($0) }) {
            throw unknownService(name, names)
        }
        return stored.filter { wanted.isEmpty || wanted.contains($0.name) }.map(\.log)
    }

    /// The events that the latest run left on disk, oldest first.
    func storedEvents() throws(Failure) -> [JSONValue] {
        let found: [JSONValue]
        do { found = try EventJournal.latestRun(events) } catch {
            throw Failure(.config, safeForTerminal("cannot read the events: \(error)"))
        }
        guard !found.isEmpty else { throw nothingRuns }
        return found
    }

    /// What is said where nothing runs, and whether an engine that was killed left something.
    private func nothingRunsNow() -> Failure {
        let left = LaunchRecord.living(in: state)
        guard !left.isEmpty, configError == nil else { return nothingRuns }
        let names = left.map { "\($0.service) (pid \($0.process.pid))" }
        return Failure(
            .nothingRuns,
            safeForTerminal(
                "no engine runs for this project, but one that was killed left "
                    + shortened(names, separator: ", ")),
            hint: "'\(CommandTable.program) up' stops what is left before it starts anything.")
    }

    /// That nothing runs; of a config that cannot be read, what has to be repaired first.
    var nothingRuns: Failure {
        configError.map { Failure($0) } ?? Failure(ControlClientError.nothingRuns(path: ""))
    }

    /// A connection to an engine that runs this file under another name.
    func connectByFile() -> ControlClient? {
        for socket in others() where !sockets.contains(socket) {
            do {
                let client = try ControlClient(path: socket, connectLimit: Self.strangerLimit)
                let limits = client.limits
                client.limits.answer = Self.strangerLimit
                let status = try client.request("GET", ["v1", "status"])
                guard let theirs = status.body?["project"]?["file"]?.string else { continue }
                let ours = try ProjectIdentity(file: file)
                guard try ProjectIdentity(file: theirs) == ours else { continue }
                client.limits = limits
                return client
            } catch {
                // An engine that does not answer, or whose config is gone, is not the one.
                continue
            }
        }
        return nil
    }

    /// The config the engine runs, if it is another one with the same name as ours.
    func otherFile(_ client: ControlClient) -> String? {
        guard isNamed else { return nil }
        do {
            let status = try client.request("GET", ["v1", "status"])
            guard let theirs = status.body?["project"]?["file"]?.string,
                try ProjectIdentity(file: theirs) != ProjectIdentity(file: file)
            else { return nil }
            return theirs
        } catch {
            // A config that was moved is no other one, and what else is wrong shows by itself.
            return nil
        }
    }

    /// How long an engine that may be another project's has to answer.
    private static var strangerLimit: Duration { .seconds(1) }
}

extension Failure {
    /// Why there was no answer from an engine.
    init(_ error: ControlClientError) {
        switch error {
        case .nothingRuns:
            self.init(
                .nothingRuns, "nothing runs for this project",
                hint: "Start it with '\(CommandTable.program) up'.")
        case .notPermitted: self.init(.notPermitted, error.description)
        case .foreign: self.init(.notPermitted, error.description)
        case .pathTooLong: self.init(.config, error.description)
        case .timedOut(let step, let limit):
            self.init(
                .timedOut,
                "the engine did not answer: waited \(humanDuration(limit)) for \(step)")
        case .disconnected: self.init(.nothingRuns, error.description)
        case .interrupted: self.init(.interrupted, error.description)
        case .system: self.init(.defect, error.description)
        }
    }

    /// Why the places of a project cannot be had.
    init(_ error: ProjectError) {
        switch error {
        case .badName, .noPlace, .pathTooLong: self.init(.config, error.description)
        case .insecure: self.init(.notPermitted, error.description)
        case .alreadyRunning: self.init(.notPermitted, error.description)
        case .lockContended: self.init(.defect, error.description)
        case .system(_, let failure):
            // A place that cannot be is the config's; a full disk or a lack of descriptors is not.
            let isPlace = [ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, EINVAL].contains(failure.code)
            self.init(isPlace ? .config : .notPermitted, error.description)
        }
    }

    /// What an engine answered instead of doing what was asked.
    init(_ response: ControlResponse, names: [String], asked: [String]) {
        let problems = (response.body?["error"]?["errors"]?.array ?? []).compactMap(\.string)
        if !problems.isEmpty {
            self.init(.config, "cannot use the config: \(counted(problems.count, "error"))")
            details = problems.map(safeForTerminal)
            return
        }
        let failure = response.failure
        let message = failure?.message ?? "the engine answered with status \(response.status)"
        let given = response.body?["error"]?["exitCode"]?.integer
        let code = given.map { ExitCode(number: Int32(truncatingIfNeeded: $0)) }
        self.init(code ?? Self.code(ofStatus: response.status), safeForTerminal(message))
        guard response.status == 404 else { return }
        let unknown = asked.first { !names.contains($0) }
        if let near = unknown.flatMap({ nearest(to: $0, among: names) }) {
            hint = "Did you mean \(quoted(near))?"
        }
    }

    private static func code(ofStatus status: Int) -> ExitCode {
        switch status {
        case 400, 404, 405, 413: .usage
        case 401, 403: .notPermitted
        case 408, 504: .timedOut
        case 409: .serviceFailed
        case 422: .config
        case 503: .nothingRuns
        default: .defect
        }
    }
}
