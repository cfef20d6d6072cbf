public import Stoic

/// A program that runs as a service of a graph: what the service's key stands for.
public struct ChildProcess: Sendable {
    /// The launched process.
    public let pid: Int32
    /// What it sent along with READY, as `VALUE_name=text`: its port, its URL.
    public let values: [String: String]
    let life: ProcessLife

    /// Waits until it has ended without having been asked to, and says how. A graph does that by
    /// itself, and stops; this is for code that wants to know more.
    /// - Returns: `nil` if it was asked to stop, or the caller is cancelled.
    public nonisolated(nonsending) func unexpectedEnd() async -> ProcessFailure? {
        await life.died.wait() ?? nil
    }
}

extension Provide {
    /// Declares a service that is a program, started as a child process.
    ///
    /// It has started when it says so; from then on its end is a failure of the service: the graph
    /// stops, and `ProcessFailure.ended` comes out of `run`. A stop asks it (control channel, then
    /// its signal), and kills whatever is left of its process tree when its time is over: a stop
    /// that returns means that nothing of it runs any more.
    ///
    /// ```swift
    /// let cache = ServiceKey<Cache>("cache")
    /// let thumbnails = ServiceKey<ChildProcess>("thumbnails")
    /// let provide = Provide.process(thumbnails, needs: [cache.any]) { services in
    ///     var command = ProcessCommand(["/usr/libexec/thumbnailer"], ready: .notify)
    ///     command.environment["CACHE"] = services[cache].path
    ///     return command
    /// }
    /// ```
    /// - Parameters:
    ///   - key: Its name and the type of its value.
    ///   - needs: What must have started before it, and stops after it.
    ///   - startTimeout: From the launch to its word that it can be used; default 30 s. Then it is
    ///     stopped, within five seconds.
    ///   - stopTimeout: From the begin of its stop to SIGKILL and the end of its tree; default
    ///     10 s, shortened to its share of the run's `exitBudget`.
    ///   - command: What to start; called once for each start.
    public static func process(
        _ key: ServiceKey<ChildProcess>, needs: [AnyServiceKey] = [],
        startTimeout: Duration = .seconds(30), stopTimeout: Duration = .seconds(10),
        _ command: @escaping @Sendable (Services) async throws -> ProcessCommand
    ) -> Provide {
        Provide(
            key, needs: needs, startTimeout: startTimeout, stopTimeout: stopTimeout,
            work: { child in try await child.life.watch() },
            start: { services in
                let command = try await command(services)
                return try await ProcessLife(key.name, command, stopTimeout).start()
            },
            stop: { child, exit in try await child.life.stop(exit) })
    }
}
