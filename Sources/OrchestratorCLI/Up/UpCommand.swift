internal import Manifest
internal import Orchestrator
internal import Stoic

extension CommandRun {
    /// `up`: in this process, in a background one, or by asking the engine that runs.
    func up() throws(Failure) -> ExitCode {
        if invocation.has(.detachedChild) { return try upInBackground() }
        let file = try configFile()
        let project: ProjectDefinition
        let warnings: [Diagnostic]
        do { (project, warnings) = try loadProject(file: file, environment: environment) } catch {
            throw Failure(error)
        }
        let names = project.services.map(\.spec.name.text)
        for name in invocation.arguments where !names.contains(name) {
            throw unknownService(name, names)
        }
        if !console.json {
            for warning in warnings { console.note(safeForTerminal(warning.description)) }
        }
        let access = try EngineAccess(file: file, environment: environment)
        let detaches = invocation.has(.detach) || invocation.has(.wait)
        if detaches || !invocation.arguments.isEmpty, let client = try access.connectIfRunning() {
            return try follow(EngineCall(invocation), of: access, on: client)
        }
        guard detaches else {
            return runEngine(project, options) { () throws(Failure) in
                invocation.arguments.isEmpty ? nil : try ask(access)
            }
        }
        let line = DetachedLaunch.commandLine(invocation)
        let launch = DetachedLaunch(line, console: console, limit: detachLimit(project))
        for _ in 0..<Self.mostTries {
            if let code = try launch.run() { return code }
            if let code = try ask(access) { return code }
        }
        throw Failure(.notPermitted, "other engines take this project over and end all the time")
    }

    /// How often another engine may be faster and be gone when it is asked.
    private static var mostTries: Int { 3 }

    /// Between the first look and the lock another engine was faster: it is asked after all. `nil`
    /// when it has ended meanwhile.
    private func ask(_ access: EngineAccess) throws(Failure) -> ExitCode? {
        guard let client = try access.connectPatiently() else { return nil }
        return try follow(EngineCall(invocation), of: access, on: client)
    }

    private var options: UpOptions {
        var options = UpOptions(names: invocation.arguments)
        options.isColored = console.colorsOutput
        options.isJSON = console.json
        options.waitsUntilUp = invocation.has(.wait)
        return options
    }

    /// The half that goes on. Its parent has checked the command line and shown the warnings.
    private func upInBackground() throws(Failure) -> ExitCode {
        DetachedChild.prepare()
        let (project, _) = try loadConfig()
        var options = options
        options.isDetachedChild = true
        return runEngine(project, options) {
            DetachedChild.reportRunsAlready()
            return .notPermitted
        }
    }

    /// How long the background half may take until it reports. Without a duration of the user's,
    /// `--wait` is bounded by what `check` computes: the longest start, and the stop after it.
    private func detachLimit(_ project: ProjectDefinition) -> Duration {
        guard invocation.has(.wait) else { return Self.answerLimit }
        if let limit = invocation.duration(.wait) { return limit }
        let start = StartWorstCase(of: project).allHang.duration
        return start.saturatingSum(project.exitBudget).saturatingSum(Self.answerLimit)
    }

    /// For the background half to load the config, take the lock and answer on its socket.
    private static var answerLimit: Duration { .seconds(30) }
}
