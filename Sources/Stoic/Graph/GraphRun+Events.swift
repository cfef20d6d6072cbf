/// What the machine decided, told in the words of a graph.
extension GraphRun {
    /// Reports an event to the run's instrumentation and to those who listen to its graph.
    func tell(
        _ name: EventName, _ level: Event.Level, _ fields: @autoclosure () -> [Event.Field] = []
    ) {
        emit(name, level, fields(), in: context)
        guard control.isHeard else { return }
        control.publish(
            Event(
                name, level, fields(), scopePath: context.path?.labels ?? [],
                at: context.ambient.clock.now))
    }

    func report(_ decision: LifecycleDecision) {
        guard let id = decision.service else { return reportProject(decision.what) }
        let service = Event.Field("service", provides[id.slot].key.name)
        switch decision.what {
        case .launching: tell(.serviceStarting, .info, [service])
        case .ready: tell(.serviceStarted, .info, [service])
        case .failed(.notReadyInTime(let limit)):
            noteStartTimeout(id.slot)
            tell(.serviceStartTimedOut, .error, [service, .init("after", limit)])
        case .stopping: tell(.serviceStopping, .info, [service])
        case .stopped: tell(.serviceStopped, .info, [service])
        case .killed: tell(.serviceStopTimedOut, .warning, [service])
        case .abandoned:
            if let life = decision.incarnation { noteAbandoned(id.slot, life) }
            tell(.serviceStopAbandoned, .error, [service])
        case .defect(let words): tell(.graphDefect, .error, [service, .init("what", words)])
        // Of a start or a stop the host tells more than the machine can; the rest is about
        // processes, plans and restarts, which a graph does not have, or changes nothing.
        case .accepted, .refused, .projectUp, .projectStopping, .forced, .projectEnded,
            .budgetExceeded, .paused, .planStarted, .planSettled, .planRolledBack, .waiting,
            .launched, .notReady, .completed, .timeoutExtended, .extensionRefused, .channelOpened,
            .watchdogSet, .healthy, .probeFailed, .probePassed, .failed, .exited,
            .restartScheduled, .gaveUp, .needLost,
            .stopRequested, .stopMessageSent, .stopAnswered, .signalled, .stopCommandRun,
            .mainExited, .abandonedTreeEmpty, .reloadSent, .forgotten, .stale, .noted:
            break
        }
    }

    private func reportProject(_ what: Verdict) {
        switch what {
        case .projectUp: noteUp()
        case .projectStopping:
            tell(.graphStopping, .info)
            noteStopping()
        case .budgetExceeded: tell(.graphExitBudgetExceeded, .error)
        case .projectEnded: tell(.graphStopped, .info)
        case .defect(let words): tell(.graphDefect, .error, [.init("what", words)])
        // About commands, plans and single services.
        case .accepted, .refused, .forced, .paused, .planStarted, .planSettled, .planRolledBack,
            .waiting, .launching, .launched, .ready, .notReady, .completed, .timeoutExtended,
            .extensionRefused, .channelOpened, .watchdogSet, .healthy, .probeFailed, .probePassed,
            .failed, .exited,
            .restartScheduled, .gaveUp, .needLost, .stopRequested, .stopping, .stopMessageSent,
            .stopAnswered, .signalled, .stopCommandRun, .killed, .mainExited, .stopped, .abandoned,
            .abandonedTreeEmpty, .reloadSent, .forgotten, .stale, .noted:
            break
        }
    }
}

extension EventName {
    /// A run begins. Field: `services`, how many there are.
    public static let graphStarting = EventName("graph.starting")
    /// Every service has started; the body runs now.
    public static let graphStarted = EventName("graph.started")
    /// Everything stops, in order.
    public static let graphStopping = EventName("graph.stopping")
    /// Nothing of a run is left, except what was left behind.
    public static let graphStopped = EventName("graph.stopped")
    /// All stops together took longer than the budget.
    public static let graphExitBudgetExceeded = EventName("graph.exitBudgetExceeded")
    /// Two keys of one graph share a name and differ in type. Field: `name`.
    public static let graphSameNameDifferentType = EventName("graph.sameNameDifferentType")
    /// The rules met an event that cannot be: a bug of the library. Fields: `what`, perhaps
    /// `service`.
    public static let graphDefect = EventName("graph.defect")
    /// A service starts. Field: `service`.
    public static let serviceStarting = EventName("service.starting")
    /// A service has started. Field: `service`.
    public static let serviceStarted = EventName("service.started")
    /// A start threw. Fields: `service`, `error`.
    public static let serviceStartFailed = EventName("service.startFailed")
    /// A start ended because it was cancelled. Field: `service`.
    public static let serviceStartCancelled = EventName("service.startCancelled")
    /// A start took too long and is cancelled. Fields: `service`, `after`.
    public static let serviceStartTimedOut = EventName("service.startTimedOut")
    /// A start that nobody waits for any more returned; what it made is stopped. Field: `service`.
    public static let serviceLateStart = EventName("service.lateStart")
    /// The work of a service threw; everything stops. Fields: `service`, `error`.
    public static let serviceWorkFailed = EventName("service.workFailed")
    /// A service stops. Field: `service`.
    public static let serviceStopping = EventName("service.stopping")
    /// A service has stopped. Field: `service`.
    public static let serviceStopped = EventName("service.stopped")
    /// A stop threw. Fields: `service`, `error`.
    public static let serviceStopFailed = EventName("service.stopFailed")
    /// A stop took too long and is cancelled. Field: `service`.
    public static let serviceStopTimedOut = EventName("service.stopTimedOut")
    /// A start or a stop ignored its cancellation and was left behind. Field: `service`.
    public static let serviceStopAbandoned = EventName("service.stopAbandoned")
}
