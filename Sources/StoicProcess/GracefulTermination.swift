import Glibc
public import Stoic

/// Ends a process well when it is asked to: the first SIGTERM, SIGINT or SIGHUP stops a graph in
/// order, a later one cuts that short, and if even that takes longer than the budget allows the
/// process ends all the same.
///
/// ```swift
/// @main struct Server {
///     static func main() async {
///         await GracefulTermination.runToExit(graph) { _ in await Cancellation.wait() }
///     }
/// }
/// ```
/// Signals are caught by handlers that write to a pipe, which a plain thread reads: neither a
/// blocked pool of tasks nor the kind of `main` matters. A signal that was ignored when the process
/// began (`nohup`) stays ignored; SIGPIPE is ignored from here on. SIGQUIT prints what the services
/// do and ends the process as it would have.
public enum GracefulTermination {
    /// Signals this close to the first are the same request: `timeout` and `npm` send two.
    static let sameRequest = Duration.milliseconds(500)
    /// How much later than the budget the process is ended.
    static let lastResortLead = Duration.seconds(2)
    /// How long the last events may take to be written.
    static let flushLimit = Duration.milliseconds(500)
    /// The exit code of a process whose stop took longer than its budget.
    static let budgetExceeded: Int32 = 75

    /// Runs `graph` as `ServiceGraph.run` does, and stops it when a signal asks for that.
    ///
    /// - Parameters:
    ///   - graph: What starts and stops.
    ///   - exitBudget: How long all stops together may take; `nil` for the seconds in the
    ///     environment's `STOIC_EXIT_BUDGET`, else 30 s. It should be shorter than what the
    ///     platform gives: 10 s in a container by default, 90 s under systemd. Two seconds later
    ///     the process ends with code 75, whatever still runs.
    ///   - stopTimeout: As in `ServiceGraph.run`.
    ///   - body: Runs on the caller's actor once everything has started; cancelled by the first
    ///     signal, with the cause `.signal`.
    /// - Throws: What `ServiceGraph.run` throws.
    /// - Precondition: One call at a time in a process.
    public nonisolated(nonsending) static func run<R>(
        _ graph: ServiceGraph, exitBudget: Duration? = nil, stopTimeout: Duration = .seconds(10),
        _ body: nonisolated(nonsending) (Services) async throws -> R
    ) async throws -> R {
        let budget = exitBudget ?? budgetOfEnvironment() ?? .seconds(30)
        let bridge = SignalBridge(graph, budget: budget)
        defer { bridge.close() }
        let result: Result<R, any Error>
        do {
            result = .success(
                try await graph.run(exitBudget: budget, stopTimeout: stopTimeout) { services in
                    try await body(services)
                })
        } catch {
            result = .failure(error)
        }
        // Sinks write in the background, and what comes next may be the end of the process.
        await Ambient.current.instrumentation.flush(within: flushLimit)
        return try result.get()
    }

    /// Runs `graph` as `run` does, on the caller's actor, and ends the process: with 0 when it
    /// ended well or because it was asked to, with 1 and a report on standard error when it failed.
    ///
    /// ```swift
    /// await GracefulTermination.runToExit(
    ///     graph, ambient: { $0.instrumentation = StandardErrorSink(from: .info) }
    /// ) { services in
    ///     await Cancellation.wait()
    /// }
    /// ```
    /// - Parameters:
    ///   - graph: What starts and stops.
    ///   - exitBudget: As in `run`.
    ///   - stopTimeout: As in `run`.
    ///   - ambient: Changes the surroundings of everything the graph runs: sinks, clocks.
    ///   - body: As in `run`.
    public nonisolated(nonsending) static func runToExit(
        _ graph: ServiceGraph, exitBudget: Duration? = nil, stopTimeout: Duration = .seconds(10),
        ambient: (inout Ambient) -> Void = { _ in },
        _ body: nonisolated(nonsending) (Services) async throws -> Void
    ) async -> Never {
        let code = await withAmbient(ambient) { () async -> Int32 in
            do {
                try await run(graph, exitBudget: exitBudget, stopTimeout: stopTimeout) { services in
                    try await body(services)
                }
                return 0
            } catch {
                return exitCode(for: error)
            }
        }
        exit(code)
    }

    /// Runs `graph` from a `main` that is not `async`, and ends the process as the other
    /// `runToExit` does.
    ///
    /// The calling thread waits, so `body` must not need the main actor. The label says so, because
    /// top-level code with an `await` in it would choose this one without a word.
    public static func runToExit(
        blocking graph: ServiceGraph, exitBudget: Duration? = nil,
        stopTimeout: Duration = .seconds(10),
        ambient: @escaping @Sendable (inout Ambient) -> Void = { _ in },
        _ body: @escaping @Sendable (Services) async throws -> Void
    ) -> Never {
        let done = BlockingResult()
        // Accounted for: this thread does nothing but wait for it.
        let task = Task {
            let code = await withAmbient(ambient) { () async -> Int32 in
                do {
                    try await run(graph, exitBudget: exitBudget, stopTimeout: stopTimeout) {
                        services in
                        try await body(services)
                    }
                    return 0
                } catch {
                    return exitCode(for: error)
                }
            }
            done.finish(code)
        }
        let code = done.wait()
        task.cancel()
        exit(code)
    }

    /// 0 for an end that was asked for; 1, and a report, for a failure.
    private static func exitCode(for error: any Error) -> Int32 {
        if error is CancellationError { return 0 }
        if case .stoppedBeforeStart? = error as? ServiceGraphError { return 0 }
        SignalBridge.say(Report(error).text)
        return 1
    }

    /// The seconds of `STOIC_EXIT_BUDGET`, if they are a number within 0...86400.
    static func budgetOfEnvironment() -> Duration? {
        // SAFETY: the text is copied at once, before anything here changes the environment.
        guard let text = unsafe getenv("STOIC_EXIT_BUDGET") else { return nil }
        guard let seconds = unsafe Double(String(cString: text)), (0...86_400).contains(seconds)
        else {
            SignalBridge.say("STOIC_EXIT_BUDGET is no number of seconds up to 86400; using 30")
            return nil
        }
        return .seconds(seconds)
    }
}
