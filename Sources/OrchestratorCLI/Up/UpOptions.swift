/// What `up` was asked.
public struct UpOptions: Hashable, Sendable {
    /// The services to start; empty: all with `start: auto`. They exist in the project.
    public var names: [String]
    /// Whether this process is the background half of `up --detach`: then only what a failed start
    /// has to say is written to stderr, and `DetachedChild.report()` is due.
    public var isDetachedChild: Bool
    /// Whether that report is due once everything started is ready, rather than as soon as the
    /// control socket answers.
    public var waitsUntilUp: Bool
    /// Whether output is coloured.
    public var isColored: Bool
    /// Whether output is JSON lines.
    public var isJSON: Bool

    /// `up` in the foreground, plain.
    public init(names: [String] = []) {
        self.names = names
        isDetachedChild = false
        waitsUntilUp = false
        isColored = false
        isJSON = false
    }
}
