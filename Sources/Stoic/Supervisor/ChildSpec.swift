/// A child of a supervisor: what it does, and what follows its end.
///
/// ```swift
/// let child = ChildSpec("import", restart: .transient, stopTimeout: .seconds(2)) {
///     try await importOnce()
/// }
/// ```
public struct ChildSpec: Sendable {
    /// Its name in events.
    public let label: String
    /// Whether it runs again.
    public let restart: Restart
    /// Whether its end counts for the supervisor's automatic end.
    public let isSignificant: Bool
    /// How long it may take to end after it was cancelled; then it is left behind.
    public let stopTimeout: Duration
    /// Whether it may be started again while what was left behind of it still runs.
    public let allowsOverlap: Bool
    let work: @Sendable () async throws -> Void

    /// When a child runs again.
    public enum Restart: Hashable, Sendable {
        /// Always.
        case permanent
        /// After a failure.
        case transient
        /// Never; not even when it was stopped because of a sibling.
        case temporary
    }

    /// - Parameters:
    ///   - label: Its name in events.
    ///   - restart: Whether it runs again; default always.
    ///   - significant: Whether its end counts for the supervisor's automatic end. Not for a
    ///     permanent child, which does not end.
    ///   - stopTimeout: How long it may take to end after it was cancelled; default 5 s.
    ///   - allowsOverlap: Whether it may be started again while what was left behind of it still
    ///     runs; by default that escalates.
    ///   - work: What it does. It ends when this does.
    /// - Precondition: A permanent child is not significant.
    public init(
        _ label: String, restart: Restart = .permanent, significant: Bool = false,
        stopTimeout: Duration = .seconds(5), allowsOverlap: Bool = false,
        _ work: @escaping @Sendable () async throws -> Void
    ) {
        precondition(
            !(significant && restart == .permanent), "a permanent child has no significant end")
        self.label = label
        self.restart = restart
        isSignificant = significant
        self.stopTimeout = stopTimeout
        self.allowsOverlap = allowsOverlap
        self.work = work
    }
}

/// Thrown by a child that shall not run again, whatever its restart says.
public struct DoNotRestart: Error, Hashable, Sendable {
    /// The only value.
    public init() {}
}

/// Thrown by a child that wants its supervisor, and everything in it, to end with a failure.
public struct StopTree: Error, Sendable {
    /// Why.
    public let reason: String
    /// - Parameter reason: Why, in words.
    public init(_ reason: String) { self.reason = reason }
}
