/// One thing the brain decided, and what it follows from. Every transition reports one.
public struct LifecycleDecision: Hashable, Sendable {
    /// Its own number.
    public let id: DecisionID
    /// The decision it follows from: one before it in its turn, or, for the first of a turn, the
    /// last one about the service whose process, message or timer it was. `nil` when it follows
    /// from a command, or from nothing that was decided.
    public let cause: DecisionID?
    /// The service it is about; `nil` for the project.
    public let service: ServiceID?
    /// The launch it is about, if one exists.
    public let incarnation: Incarnation?
    /// What was decided.
    public let what: Verdict
}

/// What the host must do. Data: performing it cannot fail, a failure comes back as an event.
public struct LifecycleEffect: Hashable, Sendable {
    /// The decision it carries out.
    public let decision: DecisionID
    /// The act itself.
    public let action: Action

    /// What the host can be asked to do.
    public enum Action: Hashable, Sendable {
        /// Launch the service as this incarnation; answered by `launched` or `launchFailed`.
        case launch(ServiceID, Incarnation)
        /// Start watching for readiness (probes, log, file …); answered by `MessageFact.ready`.
        case watchReadiness(ServiceID, Incarnation)
        /// Stop watching for readiness.
        case endReadiness(Incarnation)
        /// Start to probe whether it lives; each result is a `MessageFact.probePassed` or
        /// `.probeFailed`.
        case watchLiveness(ServiceID, Incarnation)
        /// Stop to probe whether it lives.
        case endLiveness(Incarnation)
        /// Send the graceful message. `deadline` is the time to SIGKILL.
        case sendStop(Incarnation, Exit, deadline: Duration)
        /// Send `RELOAD=1` on the control channel.
        case sendReload(Incarnation)
        /// Run the stop command of a rung; it must not outlive `deadline`.
        case runStopCommand(Incarnation, index: Int, Exit, deadline: Duration)
        /// Send a signal, then SIGCONT.
        case signal(Incarnation, Int32, SignalTarget)
        /// Send a signal, then SIGCONT, to every process of the incarnation that was not there when
        /// the same signal was sent to its group or tree before: what a ladder that began left out.
        case signalRest(Incarnation, Int32)
        /// SIGKILL the whole tree, again and again until it is empty. A launch that was not
        /// answered yet is called off instead, by `launchFailed`, even where its exec hangs; where
        /// it succeeds in that moment, `launched` leads to another `kill`.
        case kill(Incarnation)
        /// Fire once, this long from now.
        case arm(TimerID, after: Duration, on: ClockKind)
        /// Do not fire.
        case disarm(TimerID)
        /// Fire this much later than armed, even if the time is already over: we stood still, and
        /// what it judges may have done well meanwhile. A host that was late by the pause itself
        /// gives a start and a watchdog a moment more, else they would be due at once.
        case postpone(TimerID, by: Duration)
        /// The incarnation is over: release everything held for it.
        case release(Incarnation)
        /// The service left the project.
        case forget(ServiceID)
        /// Nothing of ours runs any more and nothing will: the engine may end.
        case endProject(ProjectOutcome)
    }

    /// Why things end, in words, handed to every stop.
    public enum Exit: Hashable, Sendable {
        /// The project ends as it should.
        case success
        /// Something failed, in words.
        case failure(String)
        /// Somebody asked for the end, in words.
        case cancelled(String)
    }
}

/// What one event led to.
public struct LifecycleOutput: Sendable {
    /// The decisions, in order. Every event leads to at least one.
    public var decisions: [LifecycleDecision] = []
    /// What the host must do, in order.
    public var effects: [LifecycleEffect] = []

    /// Nothing yet.
    public init() {}
}

/// How the project ended.
public struct ProjectOutcome: Hashable, Sendable {
    /// Why it stopped.
    public var cause: StopCause
    /// Services that failed to start, gave up or failed and were not started again.
    public var failed: [ServiceID]
    /// Services with a tree that outlived SIGKILL.
    public var abandoned: [ServiceID]
    /// Whether somebody skipped the ladder.
    public var wasForced: Bool
    /// How the essential service ended, when it is the cause.
    public var essentialStatus: ExitStatus?
}
