/// What every primitive reads from its surroundings: time, randomness, and whom to report to.
///
/// One value of the current task. Children, group children, shielded cleanup and forks of a scope
/// inherit it as it was when they began; `Task.detached` does not. Reading it allocates nothing;
/// `withAmbient` allocates once.
public struct Ambient: Sendable {
    /// Where deadlines, delays and schedules take their time from. It goes on while the machine
    /// sleeps: a deadline that passed in the meantime has passed. Default `AnyClock.continuous`.
    public var clock: AnyClock
    /// What judges whether something hangs. A process that was asleep or stopped was not hung.
    /// Default `AnyClock.liveness`.
    public var livenessClock: AnyClock
    /// Where jitter comes from. Default the system's generator.
    public var random: RandomSource
    /// Who hears what is decided. Default one line on standard error for each notice or worse.
    public var instrumentation: any Instrumentation
    /// The retry budgets by name; a new registry has full ones.
    public var budgets: RetryBudgets
    /// The earliest deadline around the current work, if there is any; where the clocks of two
    /// differ, which have no common time, the inner one.
    public internal(set) var deadline: Deadline?

    /// The surroundings of the current task.
    public static var current: Ambient { Context.current.ambient }

    /// The defaults of a process.
    public static let standard = Ambient(
        clock: .continuous, livenessClock: .liveness, random: .system,
        instrumentation: StandardErrorSink.shared, budgets: RetryBudgets(), deadline: nil)
}

/// Runs `operation`, on the caller's actor, with other surroundings.
///
/// ```swift
/// let port = await withAmbient { $0.random = .seeded(7) } operation: { await pickPort() }
/// ```
/// - Parameters:
///   - transform: Changes the surroundings; called once, before `operation`.
///   - operation: What runs in them, its child tasks included.
/// - Throws: What `operation` throws.
public nonisolated(nonsending) func withAmbient<R, E: Error>(
    _ transform: (inout Ambient) -> Void,
    operation: nonisolated(nonsending) () async throws(E) -> R
) async throws(E) -> R {
    var context = Context.current
    transform(&context.ambient)
    return try await withContext(context) { () async throws(E) -> R in try await operation() }
}
