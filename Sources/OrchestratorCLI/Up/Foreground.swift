import CProcess
import Glibc
public import Manifest
import Orchestrator
import Stoic

/// Runs the engine in this process until everything has ended.
public func runForeground(_ project: ProjectDefinition, options: UpOptions) -> ExitCode {
    runEngine(project, options, whenRunning: nil)
}

/// As `runForeground`.
/// - Parameter whenRunning: What to do when another engine has taken the project over meanwhile;
///   without it, or when it answers `nil`, that is a failure.
func runEngine(
    _ project: ProjectDefinition, _ options: UpOptions,
    whenRunning: (() throws(Failure) -> ExitCode?)?
) -> ExitCode {
    cproc_sanitize_stdio()
    // What our caller left open, the end of a pipe say, is not ours to keep open.
    cproc_close_from(options.isDetachedChild ? DetachedChild.reportDescriptor + 1 : 3)
    let console = Console(
        GlobalOptions(json: options.isJSON, color: options.isColored ? .always : .never),
        environment: currentEnvironment())
    do throws(Failure) {
        return try Foreground(project, options).run()
    } catch {
        guard error.runsAlready, let whenRunning else { return console.fail(error) }
        do throws(Failure) { return try whenRunning() ?? console.fail(error) } catch {
            return console.fail(error)
        }
    }
}

/// One run of the engine in front of somebody: its output and its events on stdout, what went
/// wrong on stderr. Writing never makes the engine wait.
final class Foreground {
    private let options: UpOptions
    private let engine: Engine
    private let writer: ConsoleWriter
    private let isTerminal: Bool
    private var lastProgress = ""

    /// How long the last lines may take to be written to a slow terminal.
    private static let flushLimit = Duration.seconds(2)

    /// Takes the project over; nothing runs yet.
    init(_ project: ProjectDefinition, _ options: UpOptions) throws(Failure) {
        self.options = options
        isTerminal = isatty(STDOUT_FILENO) == 1
        let view = ForegroundView(project, options, isTerminal: isTerminal)
        do {
            let writer = try ConsoleWriter(descriptor: STDOUT_FILENO)
            self.writer = writer
            var engineOptions = EngineOptions(
                names: options.names.map { ServiceName($0) }, requester: "up")
            let waitsUntilUp = options.waitsUntilUp
            if options.isDetachedChild {
                engineOptions.onEvent = { record in
                    if waitsUntilUp, record.name == "project.up" { DetachedChild.report() }
                }
            } else {
                engineOptions.onLine = { writer.write(view.bytes(of: $0)) }
                engineOptions.onEvent = { record in
                    guard record.level >= .info else { return }
                    writer.write(view.bytes(of: record))
                }
            }
            engineOptions.onTrouble = { words in
                writer.write(Array("orchestrator: \(words)\n".utf8))
            }
            engine = try Engine(project, options: engineOptions)
        } catch let error as EngineError {
            throw Failure(error)
        } catch {
            throw Failure(.defect, "cannot \(error)")
        }
    }

    func run() throws(Failure) -> ExitCode {
        if options.isDetachedChild, !options.waitsUntilUp { DetachedChild.report() }
        if isTerminal, !options.isDetachedChild {
            engine.afterTurn = { [unowned self] in showProgress() }
        }
        if options.isDetachedChild, options.waitsUntilUp {
            engine.afterTurn = { [unowned self] in reportFailures() }
        }
        let result = engine.run()
        _ = writer.close(within: Self.flushLimit)
        return try end(result)
    }

    /// With `onStartFailure: keep`, "everything is up" may never come: then the wait ends with what
    /// it can no longer wait for.
    private func reportFailures() {
        let failures = engine.startFailures
        guard !failures.isEmpty else { return }
        engine.afterTurn = nil
        DetachedChild.reportFailure(failures.joined(separator: "\n"))
    }

    /// During a stop: whom it waits for, and what comes next. Said when it changes.
    private func showProgress() {
        guard let progress = engine.stopProgress else { return }
        let waiting = progress.services.map { service in
            StopProgress.Waiting(
                service.name, pid: service.pid,
                last: service.last.map { StopProgress.Step($0.what, $0.distance) },
                next: service.next.map { StopProgress.Step($0.what, $0.distance) })
        }
        let line = StopProgress(
            waiting, budgetLeft: progress.budgetLeft, isForced: progress.isForced
        ).line()
        let key = progress.services.map { "\($0.name) \($0.last?.what ?? "")" }.joined()
        guard let line, key != lastProgress else { return }
        lastProgress = key
        writer.write(Array((line + "\n").utf8))
    }

    private func end(_ result: ProjectResult) throws(Failure) -> ExitCode {
        guard let outcome = result.outcome else {
            throw Failure(.defect, "defect: \(result.cause); please report it")
        }
        let code = result.survivors.isEmpty ? ExitCode(of: outcome) : .survivors
        switch code {
        case .done, .interrupted: return code
        case .survivors:
            let names = result.survivors.map(\.description).joined(separator: "; ")
            throw Failure(
                code, "something outlived the stop: \(names)",
                hint: "Look at it with 'ps'; a process in state D waits for the kernel.")
        case .serviceFailed, .essential, .usage, .nothingRuns, .defect, .timedOut, .notPermitted,
            .config:
            let words = result.failures.isEmpty ? [result.cause] : result.failures
            throw Failure(code, words.joined(separator: "\n"))
        }
    }
}

extension Failure {
    /// The project could not be taken over; nothing was started.
    init(_ error: EngineError) {
        // Some of the words below say it themselves.
        let words = "\(error)"
        let message = words.hasPrefix("cannot ") ? words : "cannot start: \(words)"
        switch error {
        case .project(.alreadyRunning), .control(.occupiedByListener):
            let program = CommandTable.program
            self.init(
                .notPermitted, message,
                hint: "Use '\(program) status' to look at it, '\(program) up -d' to start what is "
                    + "missing, '\(program) down' to end it.")
            runsAlready = true
        case .project(.pathTooLong), .control(.pathTooLong), .graph: self.init(.config, message)
        case .project(let error): self.init(Failure(error).code, message)
        case .control: self.init(.notPermitted, message)
        case .system: self.init(.defect, message)
        }
    }
}
