package import Stoic

/// What an imaginary process does when it is launched and told to stop.
package struct Behaviour: Hashable, Sendable {
    /// From the launch to its answer; `nil`: it is never answered.
    package var launch: Duration? = .zero
    /// Launches that fail, counted from the first.
    package var failedLaunches = 0
    /// From the exec to readiness; `nil`: it never is.
    package var ready: Duration? = .zero
    /// It opens its control channel when it is launched.
    package var hasChannel = false
    /// Exits by itself, one for each launch; the last stands for all later ones.
    package var exits: [Exit?] = [nil]
    /// From SIGTERM (or any other signal of the ladder) to its exit; `nil`: it ignores signals.
    package var term: Duration? = .zero
    /// From a stop command to its exit; `nil`: the command moves nothing.
    package var command: Duration?
    /// Whether it answers the graceful message, and how long it then takes to exit.
    package var answer = Answer.none
    /// From the exit of its main process to the empty tree; `nil`: SIGKILL only.
    package var tree: Duration? = .zero
    /// Whether its tree outlives SIGKILL.
    package var survivesKill = false
    /// Whether it sends what its watchdog expects, twice in each interval.
    package var pings = false
    /// How often it is probed for whether it lives, where it is.
    package var probeInterval = Duration.seconds(10)
    /// How long a probe takes that fails.
    package var probeTimeout = Duration.seconds(1)
    /// Whether it answers those probes. What answers costs no event.
    package var answersProbes = true
    /// Whether they show that it hangs. A socket accepts connections for a process that does not.
    package var probesShowHang = true
    /// What it says on its notify socket while it runs, beside the truth.
    package var chatter = Chatter.none

    /// An exit of its own.
    package struct Exit: Hashable, Sendable {
        /// From the exec.
        package var after: Duration
        /// How.
        package var status: ExitStatus

        package init(after: Duration, status: ExitStatus) {
            self.after = after
            self.status = status
        }
    }

    /// What becomes of the graceful message.
    package enum Answer: Hashable, Sendable {
        case none
        case exits(after: Duration)
        /// It answers and takes for ever.
        case only
    }

    /// What a process says that is not so.
    package enum Chatter: Hashable, Sendable {
        case none
        /// It says that it is ready and that it is not, that it stops, that it needs a century, and
        /// that nobody should watch it.
        case lies
        /// It sends as much as it can.
        case floods
    }

    /// Ready at once, and gone at SIGTERM.
    package init() {}

    /// Ready at once, and gone at SIGTERM.
    package static let good = Behaviour()
}
