/// Bounds an operation's time, as `withTimeout` does, as a value that can be kept and handed on.
///
/// ```swift
/// let quick = Timeout(.seconds(2))
/// let reply = try await quick.run { try await client.fetch() }
/// ```
public struct Timeout: Hashable, Sendable {
    /// How long an operation may run.
    public let limit: Duration

    /// - Parameter limit: How long an operation may run; at most a century.
    public init(_ limit: Duration) { self.limit = limit.clamped }

    /// Runs `operation` for at most `limit`; what is cut is cancelled and awaited.
    ///
    /// - Parameters:
    ///   - clock: Whose time counts; the ambient clock unless given.
    ///   - operation: Runs on the caller's actor.
    /// - Throws: As `withTimeout`.
    public nonisolated(nonsending) func run<R, E: Error>(
        clock: (any Clock<Duration>)? = nil,
        _ operation: nonisolated(nonsending) () async throws(E) -> R
    ) async throws -> R {
        try await withTimeout(limit, clock: clock) { () async throws(E) -> R in
            try await operation()
        }
    }
}
