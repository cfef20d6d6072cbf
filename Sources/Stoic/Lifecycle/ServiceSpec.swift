/// What the brain knows of a service: its kind, its edges and its policies. Everything about *how*
/// to launch is the host's, and reaches the brain only as `launchDigest`.
public struct ServiceSpec: Hashable, Sendable {
    /// The name, unique in a graph.
    public var name: ServiceName
    /// Whether it runs until stopped or to completion.
    public var kind: Kind
    /// What must be there before it starts, and outlives it.
    public var needs: [Need]
    /// Whether `up` without names starts it.
    public var startsAutomatically: Bool
    /// What makes an incarnation ready.
    public var readiness: Readiness
    /// From launch to ready, per attempt. A oneshot's bound is this too. Default 30 s (oneshot 1
    /// h).
    public var startTimeout: Duration
    /// How far messages may extend one start, measured from its launch. Default 5 min: ten times
    /// the default of `startTimeout`, and it does not follow that. A oneshot's is its bound, 1 h.
    public var startTimeoutMax: Duration
    /// Launches before a start failure counts as one. Default 1.
    public var startAttempts: Int
    /// From the start of its stop to its SIGKILL. Default 10 s; zero is SIGKILL at once.
    public var stopTimeout: Duration
    /// The rungs of its stop before the implied SIGKILL, in order.
    public var ladder: [Rung]
    /// What follows an exit nobody asked for.
    public var restart: RestartPolicy
    /// When it ends by itself, after its policy, the project stops with its exit code.
    public var isEssential: Bool
    /// A start failure of this service rolls the project back while it was never fully up.
    public var onStartFailure: StartFailureRule
    /// The longest silence between two watchdog messages once ready; `nil` means none is expected.
    public var watchdog: Duration?
    /// How many liveness probes fail in a row before it has failed, at least 1; `nil` means it is
    /// not probed once it is ready. Like `watchdog`, part of what `launchDigest` stands for.
    public var liveThreshold: Int?
    /// Changes exactly when a running incarnation would have to be launched anew to match the spec.
    public var launchDigest: UInt64

    /// Whether a service runs until stopped or to completion.
    public enum Kind: Hashable, Sendable {
        /// Runs until stopped.
        case service
        /// Runs to completion. `rerunsWithNeeds`: again after each restart of a need.
        /// `keepsTree`: it is complete when its main process ended, whatever it left running.
        case oneshot(rerunsWithNeeds: Bool, keepsTree: Bool)
    }

    /// What makes an incarnation ready.
    public enum Readiness: Hashable, Sendable {
        /// The successful exec itself.
        case launch
        /// A message or a probe, which the host reports as `MessageFact.ready`.
        case reported
        /// Exit with success: a oneshot.
        case completion
    }

    /// What a start failure does while the project was never fully up.
    public enum StartFailureRule: Hashable, Sendable {
        /// The other starts are cancelled, what started is stopped, and `up` fails.
        case rollback
        /// The restart policy is followed; what needs the service waits.
        case keep
    }

    /// A service with every policy at its documented default.
    /// - Parameter readiness: Unless given, `launch` for a service and `completion` for a oneshot.
    public init(
        _ name: ServiceName, kind: Kind = .service, needs: [Need] = [],
        readiness: Readiness? = nil
    ) {
        self.name = name
        self.kind = kind
        self.needs = needs
        startsAutomatically = true
        self.readiness = readiness ?? (kind == .service ? .launch : .completion)
        startTimeout = kind == .service ? .seconds(30) : .seconds(3_600)
        startTimeoutMax = kind == .service ? .seconds(300) : startTimeout
        startAttempts = 1
        stopTimeout = .seconds(10)
        ladder = Rung.standard
        restart = RestartPolicy()
        isEssential = false
        onStartFailure = .rollback
        watchdog = nil
        liveThreshold = nil
        launchDigest = 0
    }
}

/// An edge of the graph: what `service` is to the one that declares it.
public struct Need: Hashable, Sendable {
    /// The service needed.
    public var service: ServiceName
    /// When the need counts as met. Default ready.
    public var condition: Condition
    /// Whether it keeps its dependent waiting for good when it cannot be met. A need that is not
    /// required also counts as met when its service has ended or gave up.
    public var isRequired: Bool
    /// What a running dependent does when the need is lost. Default ignore.
    public var onNeedLost: OnNeedLost

    /// When a need counts as met.
    public enum Condition: Hashable, Sendable, CaseIterable {
        /// Its incarnation was launched: exec succeeded.
        case started
        /// It is ready; a oneshot: completed.
        case ready
        /// It ended with success.
        case completed
    }

    /// What a running dependent does when the need is lost.
    public enum OnNeedLost: Hashable, Sendable, CaseIterable {
        /// Runs on.
        case ignore
        /// Is stopped at once, and starts when the need is met again.
        case wait
        /// Runs on, and is restarted once the need is met again.
        case restart
    }

    /// A required need for readiness, unless told otherwise.
    public init(
        _ service: ServiceName, _ condition: Condition = .ready, required: Bool = true,
        onNeedLost: OnNeedLost = .ignore
    ) {
        self.service = service
        self.condition = condition
        isRequired = required
        self.onNeedLost = onNeedLost
    }
}

/// A step of the escalation of a stop. SIGKILL to the whole tree always follows the last.
public struct Rung: Hashable, Sendable {
    /// What is done.
    public var action: Action
    /// How long the next rung waits for the tree to empty. `nil`: a message waits for its answer as
    /// `LifecycleMachine` says, anything else until the end of the slot.
    public var wait: Duration?

    /// What a rung does.
    public enum Action: Hashable, Sendable {
        /// The graceful message on the control channel; skipped where the service never opened it.
        case message
        /// A signal, by number, and whom it reaches.
        case signal(Int32, SignalTarget)
        /// The stop command with this index in the host's launch description.
        case command(Int)
    }

    /// A rung with its wait.
    public init(_ action: Action, wait: Duration? = nil) {
        self.action = action
        self.wait = wait
    }

    /// The graceful message, then SIGTERM to the main process's group.
    public static let standard = [Rung(.message), Rung(.signal(15, .group))]
}

/// Whom a signal reaches.
public enum SignalTarget: Hashable, Sendable, CaseIterable {
    /// The main process only.
    case main
    /// The main process's process group.
    case group
    /// Every process of the incarnation.
    case tree
}

/// What follows an exit nobody asked for.
public struct RestartPolicy: Hashable, Sendable {
    /// When it is launched again. Default on failure.
    public var mode: Mode
    /// The delays between launches, from the exit on. Default 500 ms × 2 up to 30 s, × U(0.8, 1).
    public var backoff: Schedule
    /// How long it must have been ready for the delays to start over. Default 30 s.
    public var resetAfter: Duration
    /// Restarts allowed within `limitWindow`, whatever the mix of causes. Default 10.
    public var limitCount: Int
    /// The window of `limitCount`. Default 5 min.
    public var limitWindow: Duration

    /// When a service is launched again.
    public enum Mode: Hashable, Sendable, CaseIterable {
        /// Never.
        case no
        /// After an exit with a code other than 0, a signal, a missed watchdog, failed liveness
        /// probes or a failed start.
        case onFailure
        /// After every exit.
        case always
    }

    /// The documented defaults.
    public init(mode: Mode = .onFailure) {
        self.mode = mode
        backoff = .restartDefault
        resetAfter = .seconds(30)
        limitCount = 10
        limitWindow = .seconds(300)
    }
}
