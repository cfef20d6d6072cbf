/// How the end of one child concerns the others.
public enum SupervisionStrategy: Hashable, Sendable {
    /// Only the child itself runs again.
    case oneForOne
    /// Every child is stopped, in reverse, and all run again.
    case oneForAll
    /// The children declared after it are stopped, in reverse, and it and they run again.
    case restForOne
}

/// How many restarts are too many.
public struct SupervisionIntensity: Hashable, Sendable {
    /// Restarts allowed within `window`, of all children together; at least 0.
    public let count: Int
    /// On the clock of the supervisor: the ambient one unless another was given.
    public let window: Duration

    /// - Precondition: `count` is not negative, `window` is positive.
    public init(_ count: Int, in window: Duration) {
        precondition(count >= 0 && window > .zero, "an intensity counts within a window")
        self.count = count
        self.window = window
    }
}

/// When the ends of significant children end the supervisor.
public enum AutomaticEnd: Hashable, Sendable {
    /// Never.
    case never
    /// When one of them has ended.
    case any
    /// When all of them have.
    case all
}

/// What a thrown `Defect` of a child means.
public enum DefectRule: Hashable, Sendable {
    /// The supervisor ends with it: running again what is broken does not mend it.
    case escalate
    /// It is treated as any failure.
    case restart
}

/// The rules of one supervisor.
///
/// ```swift
/// var rules = Supervision(intensity: SupervisionIntensity(3, in: .seconds(60)))
/// rules.backoff = .exponential(base: .seconds(1), cap: .seconds(30)).jittered()
/// ```
public struct Supervision: Hashable, Sendable {
    /// How the end of one child concerns the others. Default only itself.
    public var strategy: SupervisionStrategy
    /// How many restarts are too many. Default 5 in 30 s: one in 6 s in the long run.
    public var intensity: SupervisionIntensity
    /// The delays before restarts. Default 200 ms × 2 up to 30 s, half of each at random.
    public var backoff: Schedule
    /// How long a child must have run for its delays to start over. Default 30 s.
    public var stableAfter: Duration
    /// When the ends of significant children end the supervisor. Default never.
    public var automaticEnd: AutomaticEnd
    /// What a thrown `Defect` means. Default escalation.
    public var onDefect: DefectRule

    /// The documented defaults.
    public init(
        strategy: SupervisionStrategy = .oneForOne,
        intensity: SupervisionIntensity = SupervisionIntensity(5, in: .seconds(30))
    ) {
        self.strategy = strategy
        self.intensity = intensity
        backoff = Schedule.exponential(base: .milliseconds(200), cap: .seconds(30))
            .jittered(0.5...1)
        stableAfter = .seconds(30)
        automaticEnd = .never
        onDefect = .escalate
    }
}

/// Why a supervisor ended with a failure, or did not take a child.
///
/// New cases may be added; a `switch` over it needs a default.
public enum SupervisorError: Error, Sendable {
    /// This child failed more often than is allowed; the failures within the window, oldest first.
    case intensityExceeded(child: String, history: [Failure])
    /// This child failed in a way that is not mended by a restart.
    case escalated(child: String, any Error)
    /// This child ignored its cancellation, and may not overlap with another run of itself.
    case childIgnoredStop(child: String)
    /// The supervisor stops, and starts nothing.
    case shuttingDown

    /// One failure that led to a restart, or would have.
    public struct Failure: Sendable {
        /// The child that failed.
        public let child: String
        /// What it threw; `nil` if it ended although it should not.
        public let error: (any Error)?
        /// When, on the clock of the supervisor.
        public let instant: AnyClock.Instant
    }
}

extension SupervisorError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .intensityExceeded(let child, let history):
            let last = history.last?.error.map { ": \($0)" } ?? ", although it should not end"
            return "\(child) ended once too often, \(history.count) times\(last)"
        case .escalated(let child, let error): return "\(child) failed beyond mending: \(error)"
        case .childIgnoredStop(let child):
            return "\(child) ignored its cancellation and may not run twice at once"
        case .shuttingDown: return "the supervisor stops, and starts nothing"
        }
    }
}
