import Orchestrator
public import Stoic

extension ProcessRun {
    /// What the rules decided, for events and for those who wait.
    func note(_ verdict: Verdict) {
        let service = Event.Field("service", life.name)
        switch verdict {
        case .ready:
            guard let tree else { return }
            life.ready.fulfil(
                .success(ChildProcess(pid: tree.process.pid, values: values, life: life)))
        case .stopMessageSent: life.events.report(.processStopSent, .info, [service])
        case .signalled(let number, _):
            life.events.report(
                .processSignalled, .info, [service, .init("signal", Int(number))])
        case .killed:
            life.events.report(.processKilled, isStopping ? .warning : .info, [service])
        case .abandoned:
            let pids = tree?.members().map { "\($0.pid)" } ?? []
            life.events.report(
                .processOutlived, .error, [service, .init("pids", pids.joined(separator: " "))])
        case .defect(let words):
            life.events.report(.graphDefect, .error, [service, .init("what", words)])
        // The graph around it tells of starts and stops; the rest needs plans, restarts, watchdogs,
        // probes or needs, which one program of a graph does not have.
        case .accepted, .refused, .projectUp, .projectStopping, .forced, .projectEnded,
            .budgetExceeded, .paused, .planStarted, .planSettled, .planRolledBack, .waiting,
            .launching, .launched, .notReady, .completed, .timeoutExtended, .extensionRefused,
            .channelOpened, .watchdogSet, .healthy, .probeFailed, .probePassed, .failed, .exited,
            .restartScheduled, .gaveUp,
            .needLost, .stopRequested, .stopping, .stopAnswered, .stopCommandRun, .mainExited,
            .stopped, .abandonedTreeEmpty, .reloadSent, .forgotten, .stale, .noted:
            break
        }
    }
}

extension EventName {
    /// A program runs. Fields: `service`, `pid`.
    public static let processLaunched = EventName("process.launched")
    /// A program has ended; nobody had asked it to if this is a warning. Fields: `service`,
    /// `status`.
    public static let processExited = EventName("process.exited")
    /// A program was asked to stop on its control channel. Field: `service`.
    public static let processStopSent = EventName("process.stopSent")
    /// A program was sent a signal. Fields: `service`, `signal`.
    public static let processSignalled = EventName("process.signalled")
    /// What was left of a program was sent SIGKILL. Field: `service`.
    public static let processKilled = EventName("process.killed")
    /// Processes of a program outlived SIGKILL. Fields: `service`, `pids`.
    public static let processOutlived = EventName("process.outlived")
    /// A message on a program's socket was not acted on. Fields: `service`, `reason`, `pid`.
    public static let processMessageRefused = EventName("process.messageRefused")
}
