import Stoic

/// What the host remembers of a service over its launches: for people, never for a rule.
struct ServiceHistory: Sendable {
    /// Launches since the engine started.
    var launches = 0
    /// How its latest main process ended.
    var lastExit: ExitStatus?
    /// Its latest failure, in words.
    var lastFailure: String?
    /// The last lines it wrote before that, at most 20.
    var lastOutput: [String] = []
    /// When it entered its present state, in awake time.
    var since = Duration.zero
}
