internal import Manifest

/// One command line on its way: what was asked, and where the answer goes. Each verb is a method in
/// the file named for it.
struct CommandRun {
    let invocation: Invocation
    let console: Console
    let environment: [String: String]

    init(_ invocation: Invocation, console: Console, environment: [String: String]) {
        self.invocation = invocation
        self.console = console
        self.environment = environment
    }

    /// Does what was asked.
    func run() throws(Failure) -> ExitCode {
        switch invocation.verb {
        case .up: try up()
        case .down, .start, .stop, .restart, .signal, .reload, .plan: try change()
        case .status: try status()
        case .logs: try logs()
        case .events: try events()
        case .why: try why()
        case .wait: try wait()
        case .check: try check()
        case .graph: try graph()
        case .simulate: try simulate()
        case .config: try config()
        case .schema: schema()
        case .notify: try notify()
        case .version: version()
        case .completion: completion()
        case .help: help()
        }
    }

    /// The project that was named, or the nearest one; its warnings go to the caller.
    func loadConfig() throws(Failure) -> (project: ProjectDefinition, warnings: [Diagnostic]) {
        let file = try configFile()
        do {
            return try loadProject(file: file, environment: environment)
        } catch {
            throw Failure(error)
        }
    }

    /// The config that was named, or the nearest one; it need not be readable.
    func configFile() throws(Failure) -> String {
        if let file = invocation.globals.file { return file }
        guard let directory = workingDirectory() else {
            throw Failure(
                .config, "cannot tell the working directory: it was removed",
                hint: "Go to another one, or name the config with --file and its whole path.")
        }
        if let file = findProjectFile(from: directory) { return file }
        let name = projectFileNames.first ?? "orchestrator.yaml"
        throw Failure(
            .config, "cannot find \(name) in \(safeForTerminal(directory)) or above it",
            hint: "Name the config with --file.")
    }

    private func help() -> ExitCode {
        // The parser answers the other forms of `help` itself.
        console.answer(raw: ReferencePage.text)
        return .done
    }

    private func schema() -> ExitCode {
        console.answer(raw: jsonSchema())
        return .done
    }
}
