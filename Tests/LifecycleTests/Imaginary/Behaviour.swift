import Stoic

/// What an imaginary service does when it is launched and told to stop.
struct Behaviour: Sendable {
    /// From the launch to its answer; `nil`: it is never answered.
    var launch: Duration? = .zero
    /// Launches that fail, counted from the first.
    var failedLaunches = 0
    /// From the exec to readiness; `nil`: it never is.
    var ready: Duration? = .zero
    /// It opens its control channel when it is launched.
    var hasChannel = false
    /// Exits by itself, one for each launch; the last stands for all later ones.
    var exits: [Exit?] = [nil]
    /// From SIGTERM (or any other signal of the ladder) to its exit; `nil`: it ignores signals.
    var term: Duration? = .zero
    /// Whether it answers the graceful message, and how long it then takes to exit.
    var answer: Answer = .none
    /// From the exit of its main process to the empty tree; `nil`: SIGKILL only.
    var tree: Duration? = .zero
    /// Whether its tree outlives SIGKILL.
    var survivesKill = false

    struct Exit: Sendable {
        var after: Duration
        var status: ExitStatus
    }

    enum Answer: Sendable {
        case none
        case exits(after: Duration)
        /// It answers and takes for ever.
        case only
    }

    /// Ready at once, and gone at SIGTERM.
    static let good = Behaviour()
    /// Ready at once, and deaf to SIGTERM.
    static let stubborn = Behaviour(term: nil)
    /// Ready at once, and not even SIGKILL ends it.
    static let immortal = Behaviour(term: nil, survivesKill: true)

    /// Exits by itself at each launch, so long after the exec.
    static func exits(after: Duration, _ status: ExitStatus, ready: Duration? = .zero) -> Behaviour
    {
        Behaviour(ready: ready, exits: [Exit(after: after, status: status)])
    }
}
