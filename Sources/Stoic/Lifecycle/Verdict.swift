/// What the brain decided. Each has a stable name, which is the name of the event that reports it.
public enum Verdict: Hashable, Sendable {
    // The project.
    /// A command was taken up: its verb and who wants it.
    case accepted(verb: String, by: String)
    /// A command was not taken up.
    case refused(verb: String, by: String, Refusal)
    /// Every wanted service is ready or completed for the first time.
    case projectUp
    /// The project ends; no service starts any more.
    case projectStopping(StopCause)
    /// Every tree is killed at once, by this requester.
    case forced(String)
    /// Nothing of ours runs any more.
    case projectEnded(StopCause)
    /// The whole stop has used up its budget.
    case budgetExceeded
    /// We stood still this long; what judges a child was given that much more.
    case paused(Duration)
    /// The services change: how many are added, changed, removed.
    case planStarted(added: Int, changed: Int, removed: Int)
    /// Every service the plan touched has settled.
    case planSettled
    /// A service the plan touched failed to start; the services become what they were.
    case planRolledBack(ServiceID)

    // Starting.
    /// It waits for this many needs.
    case waiting(needs: Int)
    /// It is launched.
    case launching
    /// Exec succeeded.
    case launched
    /// It can be used.
    case ready
    /// It said it cannot be used, and why.
    case notReady(String)
    /// A oneshot completed.
    case completed
    /// A timeout was extended by this much, after a message.
    case timeoutExtended(Duration)
    /// A message asked for more time than there is.
    case extensionRefused(Duration)
    /// It opened its control channel.
    case channelOpened
    /// Its watchdog interval changed.
    case watchdogSet(Duration?)
    /// It was ready long enough for its delays to start over.
    case healthy
    /// A liveness probe failed, for this reason: the how manyth in a row, and how many it may take.
    case probeFailed(String, count: Int, of: Int)
    /// A liveness probe succeeded after some had failed.
    case probePassed

    // Failing and starting again.
    /// It failed.
    case failed(ServiceFailure)
    /// Its main process ended by itself, with success.
    case exited(ExitStatus)
    /// It is launched again after this delay; `attempt` counts launches since it was last healthy.
    case restartScheduled(after: Duration, attempt: Int)
    /// Its limit of restarts is reached.
    case gaveUp(restarts: Int, within: Duration)
    /// Something it needs was lost; what it does about that.
    case needLost(ServiceID, Need.OnNeedLost)

    // Stopping.
    /// It is to stop; it waits for its turn.
    case stopRequested(ServiceStopCause)
    /// Its stop begins, and may take this long to SIGKILL.
    case stopping(ServiceStopCause, limit: Duration)
    /// The graceful message was sent.
    case stopMessageSent
    /// It answered the graceful message, or said by itself that it is stopping.
    case stopAnswered
    /// A signal was sent.
    case signalled(Int32, SignalTarget)
    /// A stop command was run.
    case stopCommandRun(Int)
    /// SIGKILL was sent to the whole tree.
    case killed
    /// The main process ended during its stop. What is left of its tree, if anything, got SIGTERM.
    case mainExited(ExitStatus)
    /// Its tree is empty; what follows.
    case stopped(AfterStop)
    /// It outlived SIGKILL.
    case abandoned
    /// The tree of an abandoned incarnation is empty at last.
    case abandonedTreeEmpty
    /// It was asked to read its config again.
    case reloadSent
    /// It left the project.
    case forgotten

    // What changes nothing.
    /// About an earlier incarnation, or about a timer that was disarmed.
    case stale
    /// Of no consequence in the state the service is in.
    case noted
    /// Cannot happen: a bug of ours, in words.
    case defect(String)
}

/// Why a command was not taken up.
public enum Refusal: Hashable, Sendable {
    /// The project ends.
    case projectStopping
    /// It has no process to reach.
    case notRunning
    /// It is known and does not exist yet.
    case notYet
    /// No such service (it may have left the project meanwhile).
    case unknownService
}

extension Verdict {
    /// The stable name: an event's `name`.
    public var name: String {
        switch self {
        case .accepted: "command.accepted"
        case .refused: "command.refused"
        case .projectUp: "project.up"
        case .projectStopping: "project.stopping"
        case .forced: "project.forced"
        case .projectEnded: "project.ended"
        case .budgetExceeded: "project.exitBudgetExceeded"
        case .paused: "liveness.paused"
        case .planStarted: "plan.started"
        case .planSettled: "plan.settled"
        case .planRolledBack: "plan.rolledBack"
        case .waiting: "service.waiting"
        case .launching: "service.launching"
        case .launched: "service.launched"
        case .ready: "service.ready"
        case .notReady: "service.notReady"
        case .completed: "service.completed"
        case .timeoutExtended: "service.timeoutExtended"
        case .extensionRefused: "service.extensionRefused"
        case .channelOpened: "service.channelOpened"
        case .watchdogSet: "service.watchdogSet"
        case .healthy: "service.healthy"
        case .probeFailed: "service.probeFailed"
        case .probePassed: "service.probePassed"
        case .failed: "service.failed"
        case .exited: "service.exited"
        case .restartScheduled: "service.restartScheduled"
        case .gaveUp: "service.gaveUp"
        case .needLost: "service.needLost"
        case .stopRequested: "service.stopRequested"
        case .stopping: "service.stopping"
        case .stopMessageSent: "service.stopMessageSent"
        case .stopAnswered: "service.stopAnswered"
        case .signalled: "service.signalled"
        case .stopCommandRun: "service.stopCommandRun"
        case .killed: "service.killed"
        case .mainExited: "service.mainExited"
        case .stopped: "service.stopped"
        case .abandoned: "service.abandoned"
        case .abandonedTreeEmpty: "service.abandonedTreeEmpty"
        case .reloadSent: "service.reloadSent"
        case .forgotten: "service.forgotten"
        case .stale: "event.stale"
        case .noted: "event.noted"
        case .defect: "defect"
        }
    }
}
