/// Everything that can happen to the brain, in the families of the contract. The fifth family, the
/// needs, is internal: the machine tells a service what became of a need of its own.
public enum LifecycleEvent: Hashable, Sendable {
    /// Somebody wants something.
    case command(Command)
    /// The host observed a process of this incarnation.
    case process(Incarnation, ProcessFact)
    /// This incarnation, or a probe on its behalf, said something.
    case message(Incarnation, MessageFact)
    /// Time passed.
    case timer(TimerFact)
}

/// Something that is wanted, and by whom.
public struct Command: Hashable, Sendable {
    /// What is wanted.
    public var verb: Verb
    /// Who wants it, in words: `uid 1000`, `SIGTERM`, `config`.
    public var requester: String

    /// `verb`, wanted by `requester`.
    public init(_ verb: Verb, by requester: String) {
        self.verb = verb
        self.requester = requester
    }

    /// What can be wanted.
    public enum Verb: Hashable, Sendable {
        /// The user owns every service that starts automatically.
        case up
        /// The user owns these and what they need is started. Clears a hold of an earlier `stop`.
        case start([ServiceID])
        /// These and what needs them are stopped; they stay wanted, and held until `start`.
        case stop([ServiceID])
        /// Like `stop`, and the user's wish for all of them is dropped.
        case down([ServiceID])
        /// These are stopped and launched again; what needs them stays and sees the need lost.
        case restart([ServiceID])
        /// Everything ends; no service starts any more.
        case stopProject(StopCause)
        /// Every tree is killed at once. Implies the end of the project.
        case force
        /// This signal goes to this service.
        case signal(ServiceID, Int32, SignalTarget)
        /// This service is asked to read its own config again: by `RELOAD=1` on its channel, if
        /// it opened one, else by this signal.
        case reload(ServiceID, Int32)
        /// The services become what the plan says.
        case plan(Plan)
        /// An incarnation found running is taken over. Not yet.
        case adopt(ServiceID)
        /// The service is frozen (`true`) or thawed. Not yet.
        case freeze(ServiceID, Bool)
        /// The service gets this many instances. Not yet.
        case replicas(ServiceID, Int)
    }
}

/// What the host observed of a process.
public enum ProcessFact: Hashable, Sendable {
    /// Exec succeeded.
    case launched
    /// The program never ran.
    case launchFailed(LaunchFailure)
    /// The main process ended. Its tree may live on.
    case mainExited(ExitStatus)
    /// No process of the incarnation is left.
    case treeEmpty
}

/// What an incarnation, or a probe on its behalf, said.
public enum MessageFact: Hashable, Sendable {
    /// It can be used.
    case ready
    /// It cannot be used any more, or not now.
    case notReady(String)
    /// It listens on its control channel (`HELLO=1`).
    case channelOpened
    /// It is stopping: the answer to the graceful message, or on its own account.
    case stopping
    /// It needs this much longer, from now on.
    case extendTimeout(Duration)
    /// It is alive.
    case watchdogPing
    /// From now on it says it is alive at least this often; `nil` switches it off.
    case watchdogInterval(Duration?)
    /// It asks to be treated as hung (`WATCHDOG=trigger`).
    case watchdogTrigger
    /// Its liveness probe succeeded.
    case probePassed
    /// Its liveness probe failed, for this reason.
    case probeFailed(String)
}

/// Time that passed.
public enum TimerFact: Hashable, Sendable {
    /// The armed timer ran out.
    case fired(TimerID)
    /// We ourselves stood still this long: stopped, frozen or starved.
    case paused(Duration)
}

/// A timer of the brain. At most one of each is armed.
public enum TimerID: Hashable, Sendable {
    /// This incarnation should have become ready.
    case start(Incarnation)
    /// The next rung of this incarnation's stop.
    case rung(Incarnation)
    /// SIGKILL for this incarnation.
    case kill(Incarnation)
    /// This incarnation outlived SIGKILL.
    case abandon(Incarnation)
    /// This incarnation missed its watchdog.
    case watchdog(Incarnation)
    /// This incarnation was ready long enough for its delays to start over.
    case healthy(Incarnation)
    /// The service may be launched again.
    case backoff(ServiceID)
    /// The whole stop has used up its budget.
    case exitBudget
}

/// Why a launch did not reach the program.
public struct LaunchFailure: Error, Hashable, Sendable {
    /// What failed, in words that complete "cannot …": `run /no/such`, `enter /missing`, `become
    /// user www`.
    public var step: String
    /// The system's error number.
    public var errorNumber: Int32

    /// The failure of `step` with `errorNumber`.
    public init(step: String, errorNumber: Int32) {
        self.step = step
        self.errorNumber = errorNumber
    }
}

/// How a process ended.
public enum ExitStatus: Hashable, Sendable {
    /// It exited with this code.
    case code(Int32)
    /// This signal ended it.
    case signal(Int32, coreDumped: Bool)
    /// It is gone and nobody knows how: it was not our child.
    case unknown

    /// Exit code 0. Death by a signal is never success.
    public var isSuccess: Bool { self == .code(0) }
}

/// Why the project stops.
public enum StopCause: Hashable, Sendable {
    /// Somebody asked, in words: `down by uid 1000`.
    case requested(String)
    /// This signal arrived.
    case signal(Int32)
    /// This service failed to start, and the project was never fully up.
    case startFailed(ServiceID)
    /// This essential service ended by itself.
    case essentialEnded(ServiceID)
    /// Every owned service has ended.
    case allEnded
}
