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
    /// Why the config cannot be read, although the engine may well run.
    private let configError: ConfigError?

    /// Looks for the project of `file`. A config that was broken while its engine runs must not
    /// keep anybody from stopping it: then the file alone identifies the project.
    init(file: String, environment: [String: String]) throws(Failure) {
        var project: ProjectDefinition?
        var problem: ConfigError?
        do {
            project = try loadProject(file: file, environment: environment).project
        } catch {
            problem = error
        }
        configError = problem
        names = project?.services.map(\.spec.name.text) ?? []
        do throws(ProjectError) {
            let identity = try ProjectIdentity(file: file, name: project?.name)
            let directories = try ProjectDirectories(
                identity, stateDirectory: project?.stateDirectory, environment: environment)
            lockFile = directories.lockFile
            sockets = [directories.controlSocket] + Self.announced(directories)
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
        if let configError { throw Failure(configError) }
        throw Failure(Self.nothingRuns)
    }

    /// A connection to the engine; `nil` when nothing runs. One that has just taken the lock has
    /// its socket still to make, and one that ends has removed it: either is given a moment.
    func connectPatiently() throws(Failure) -> ControlClient? {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            if let client = try connectIfRunning() { return client }
            guard isHeld else { return nil }
            guard ContinuousClock.now < deadline else {
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
        let deadline = ContinuousClock.now + Self.patience
        while isHeld, ContinuousClock.now < deadline { poll(nil, 0, Self.tryEvery) }
    }

    private var isHeld: Bool {
        do { return try InstanceLock.currentHolder(of: lockFile) != nil } catch .alreadyRunning {
            return true
        } catch {
            // A lock we may not read: whoever holds it is not ours to ask either.
            return false
        }
    }

    /// Nothing runs, whatever the socket would have been called.
    static let nothingRuns = ControlClientError.nothingRuns(path: "")
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
            self.init(
                [EACCES, EPERM].contains(failure.code) ? .notPermitted : .config, error.description)
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
