import Synchronization

/// How a scope ends: forks are cancelled and awaited, then finalizers run, the last first.
struct ScopeExit {
    /// The longest wait for forks that were cancelled.
    static let forkWait = Duration.seconds(5)

    let core: ScopeCore
    let exit: Exit
    /// When the whole end is over. Its clock judges what hangs.
    let end: Deadline

    init(_ core: ScopeCore, exit: Exit, end: Deadline) {
        self.core = core
        self.exit = exit
        self.end = end
    }

    /// Runs to its end within the budget, whatever hangs.
    func run() async {
        emit(.scopeClosing, .debug, [.init("exit", exit.summary)])
        await endForks()
        while let (finalizer, left) = core.takeLastFinalizer() {
            await finalize(finalizer, left: left)
        }
        emit(.scopeClosed, .debug, [.init("abandoned", core.abandoned.count)])
    }

    private func endForks() async {
        let forks = core.beginClosing()
        guard !forks.isEmpty else { return }
        core.cause.record(.scopeClosed)
        for fork in forks { fork.task.cancel() }
        let wait = min(Self.forkWait, max(end.remaining, .zero) / 2)
        let deadline = Deadline.in(wait, clock: end.clock)
        let site = Site("a fork that was cancelled")
        for fork in forks where await fork.ended.wait(for: site, until: deadline) == nil {
            await abandon(fork)
        }
    }

    private func abandon(_ fork: ScopeCore.Fork) async {
        guard AbandonedWork.begin(for: core.abandoned) else {
            emit(.deadlineAbandonmentSaturated, .error, [.init("label", fork.label)])
            _ = await fork.ended.wait(for: Site("a fork that may not be left behind"))
            return
        }
        emit(.scopeAbandonedWork, .warning, [.init("fork", fork.label)])
        let owner = core.abandoned
        _ = spawn {
            _ = await fork.ended.wait(for: Site("a fork that was left behind"))
            AbandonedWork.end(for: owner)
        }
    }

    private func finalize(_ finalizer: Finalizer, left: Int) async {
        if finalizer.policy == .quarantine, core.abandoned.count > 0 {
            Quarantine.keep(finalizer)
            emit(.scopeQuarantined, .warning, [.init("label", finalizer.label)])
            return
        }
        let slot = StopSlot(stopTimeout: finalizer.timeout, remaining: end.remaining, later: left)
        let exit = exit
        let label = finalizer.label
        let run = BoundedRun(label: label, clock: end.clock, slot: slot, owner: core.abandoned)
        let outcome = await run.run {
            try await finalizer.run(exit)
        } late: { result in
            if case .failure(let error) = result { Self.failed(label, error) }
        }
        switch outcome {
        case .abandoned:
            emit(.scopeFinalizerAbandoned, .error, [.init("label", label)])
        case .ended(let result, let afterItsTime):
            if afterItsTime {
                emit(
                    .scopeFinalizerTimedOut, .warning,
                    [.init("label", label), .init("after", slot.beforeKill)])
            }
            guard case .failure(let error) = result else { return }
            // One that was cut and says no more than that it was cancelled is reported above.
            if !(afterItsTime && error is CancellationError) { Self.failed(label, error) }
        }
    }

    private static func failed(_ label: String, _ error: any Error) {
        emit(
            .scopeFinalizerFailed, error is any Defect ? .error : .warning,
            [.init("label", label), .init("error", describing: error)])
    }
}

/// What is leaked on purpose, because work that was left behind may still use it.
enum Quarantine {
    private static let kept = Mutex<[Finalizer]>([])
    static func keep(_ finalizer: Finalizer) { kept.withLock { $0.append(finalizer) } }
    static var count: Int { kept.withLock { $0.count } }
}

extension Exit {
    /// The exit in one word, for events.
    var summary: String {
        switch self {
        case .success: "success"
        case .failure: "failure"
        case .cancelled(let cause): "cancelled: \(cause)"
        }
    }
}

extension EventName {
    /// A scope begins.
    public static let scopeOpened = EventName("scope.opened")
    /// A scope ends. Field: `exit`, how its body ended.
    public static let scopeClosing = EventName("scope.closing")
    /// A scope has ended. Field: `abandoned`, how much was left behind in it.
    public static let scopeClosed = EventName("scope.closed")
    /// A fork threw. Fields: `fork`, `error`.
    public static let scopeForkFailed = EventName("scope.forkFailed")
    /// A finalizer threw. Fields: `label`, `error`.
    public static let scopeFinalizerFailed = EventName("scope.finalizerFailed")
    /// A finalizer was cut by its deadline. Fields: `label`, `after`.
    public static let scopeFinalizerTimedOut = EventName("scope.finalizerTimedOut")
    /// A finalizer ignored its cancellation and was left behind. Field: `label`.
    public static let scopeFinalizerAbandoned = EventName("scope.finalizerAbandoned")
    /// A fork ignored its cancellation and was left behind. Field: `fork`.
    public static let scopeAbandonedWork = EventName("scope.abandonedWork")
    /// A resource was leaked on purpose: work that was left behind may use it. Field: `label`.
    public static let scopeQuarantined = EventName("scope.quarantined")
    /// A fork or a finalizer came too late and was refused. Fields: `scope`, `label`.
    public static let scopeRejectedAfterClose = EventName("scope.rejectedAfterClose")
}
