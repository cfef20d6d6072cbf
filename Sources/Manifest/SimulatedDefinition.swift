/// How the process of a service behaves in a simulation: `x-simulate` of the config. `nil` is what
/// the simulation does by itself.
public struct SimulatedDefinition: Hashable, Sendable {
    /// From the launch to the running program.
    public var launch: Duration?
    /// From the running program to readiness.
    public var ready: Duration?
    /// From the running program to its own end; a service without it runs until it is stopped.
    public var run: Duration?
    /// What it exits with after `run`.
    public var exitCode: Int32 = 0
    /// From the signal (or the message) that tells it to end to its end.
    public var stop: Duration?
    /// Whether no signal but SIGKILL ends it.
    public var ignoresTerm = false
    /// Whether it leaves a process behind when it ends.
    public var escapes = false
    /// What it does about the graceful message.
    public var message = Message.stops

    /// What becomes of the graceful message.
    public enum Message: String, Hashable, Sendable, CaseIterable {
        /// It answers and ends.
        case stops
        /// It answers and ends by the next signal.
        case answers
        /// It does not answer.
        case ignores
    }

    /// Nothing said.
    public init() {}
}
