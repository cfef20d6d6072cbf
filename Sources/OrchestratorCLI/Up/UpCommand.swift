public import Manifest

/// What `up` was asked.
public struct UpOptions: Hashable, Sendable {
    /// The services to start; empty: all with `start: auto`.
    public var names: [String]
    /// Whether this process is the background half of `up --detach`.
    public var isDetachedChild: Bool
    /// Whether the background half reports only once everything started is ready.
    public var waitsUntilUp: Bool
    /// Whether output is coloured.
    public var isColored: Bool
    /// Whether output is JSON lines.
    public var isJSON: Bool

    /// The options of `up` in the foreground.
    public init(names: [String] = []) {
        self.names = names
        isDetachedChild = false
        waitsUntilUp = false
        isColored = false
        isJSON = false
    }
}

/// Runs the engine in this process until everything has ended.
public func runForeground(_ project: ProjectDefinition, options: UpOptions) -> ExitCode {
    .defect
}
