import EventLoop
import Orchestrator
import Stoic

/// One program, and the brain that rules over it: a `LifecycleMachine` of one service. It decides
/// when a launch has failed and how a stop climbs its ladder; this performs what it decides.
final class ProcessRun {
    /// How far the process has come.
    enum Phase {
        /// What it says before its launch is answered is kept, at most so much.
        case launching(Spawner.Ticket?, early: [ServiceMessage])
        case running(ProcessTree)
        /// Nothing is held for it.
        case over
    }

    /// Messages kept before the launch is answered.
    static let mostEarly = 64

    let life: ProcessLife
    unowned let host: ProcessHost
    let token: UInt64
    var phase = Phase.launching(nil, early: [])
    var sockets = ProcessSockets()
    var values: [String: String] = [:]
    /// It said that it can be used before anybody watched for that.
    var isReadyEarly = false
    var isWatched = false
    /// Whether its end was asked for.
    private(set) var isStopping = false
    /// What is left to tell once the host has cleaned up, and whether that was told.
    private enum End {
        case none
        case untold(survivors: [Int32])
        case told
    }
    private var ending = End.none
    private var machine: LifecycleMachine
    private var inbox: [LifecycleEvent] = []
    private var fired: [EngineTimers.Fired] = []
    /// Those of `fired` that are being told, and were neither armed nor disarmed meanwhile.
    private var due: [TimerID: EngineTimers.Fired] = [:]
    private var ownTimers: EngineTimers?

    init(_ life: ProcessLife, _ host: ProcessHost) throws(UVError) {
        self.life = life
        self.host = host
        token = host.nextToken()
        machine = Self.machine(for: life)
        ownTimers = try EngineTimers(host.loop) { [unowned self] in fired.append($0) }
    }

    private static func machine(for life: ProcessLife) -> LifecycleMachine {
        var spec = ServiceSpec(
            ServiceName(life.name), readiness: life.command.ready == .notify ? .reported : .launch)
        // The graph around it times the start, and cancels it.
        spec.startTimeout = .century
        spec.startTimeoutMax = .century
        spec.stopTimeout = life.stopTimeout
        spec.ladder = [Rung(.signal(life.command.stopSignal, .group))]
        if life.command.hasControlChannel { spec.ladder.insert(Rung(.message), at: 0) }
        spec.restart = RestartPolicy(mode: .no)
        do {
            return try LifecycleMachine([spec])
        } catch {
            preconditionFailure("one service without needs is refused: \(error)")
        }
    }

    /// Nothing is left to do for it.
    var isOver: Bool {
        guard case .over = phase else { return false }
        switch ending {
        case .none: return false
        case .untold, .told: return inbox.isEmpty
        }
    }

    var tree: ProcessTree? {
        guard case .running(let tree) = phase else { return nil }
        return tree
    }

    // MARK: What is asked of it

    func begin() { post(.command(Command(.up, by: "its service graph"))) }

    /// - Parameter within: How long it may take, SIGKILL and the end of its tree included.
    func stop(_ reason: String, within: Duration) {
        isStopping = true
        life.died.fulfil(nil)
        machine.exitBudget = max(within, .zero)
        post(.command(Command(.stopProject(.requested(reason)), by: reason)))
    }

    func force() {
        isStopping = true
        post(.command(Command(.force, by: "its service graph")))
    }

    // MARK: The turn

    func post(_ event: LifecycleEvent) { inbox.append(event) }

    /// Works through what was noticed: facts first, then timers, as the rules want it.
    func turn() {
        repeat {
            while !inbox.isEmpty { feed(inbox.removeFirst()) }
            feedTimers()
        } while !inbox.isEmpty
    }

    private func feedTimers() {
        let all = fired
        fired = []
        guard let latest = all.map(\.lateness).max() else { return }
        due = Dictionary(all.map { ($0.timer, $0) }, uniquingKeysWith: { $1 })
        // Later than a busy machine explains: we stood still ourselves, and that is forgiven.
        if latest > EngineTimers.ordinaryLateness { feed(.timer(.paused(latest))) }
        for each in all where due.removeValue(forKey: each.timer) != nil {
            feed(.timer(.fired(each.timer)))
        }
        due = [:]
    }

    private func feed(_ event: LifecycleEvent) {
        let now = host.loop.now
        var output = LifecycleOutput()
        machine.handle(event, at: Instant(awake: now.awake, boot: now.boot), into: &output)
        for decision in output.decisions { note(decision.what) }
        for effect in output.effects { perform(effect.action) }
    }

    private func perform(_ action: LifecycleEffect.Action) {
        switch action {
        case .launch(_, let incarnation): launch(incarnation)
        case .watchReadiness(_, let incarnation):
            isWatched = true
            if isReadyEarly { post(.message(incarnation, .ready)) }
        case .sendStop(_, let exit, let deadline):
            sockets.channel?.sendStop(reason: exit.reason, deadline: deadline)
        case .signal(_, let number, let target): tree?.signal(number, to: target)
        case .signalRest(_, let number): tree?.signalRest(number)
        case .kill: kill()
        case .arm(let timer, let wait, let clock):
            due[timer] = nil
            ownTimers?.arm(timer, after: wait, on: clock)
        case .disarm(let timer):
            due[timer] = nil
            ownTimers?.disarm(timer)
        case .postpone(let timer, let pause):
            ownTimers?.postpone(timer, by: pause, fired: due.removeValue(forKey: timer))
        case .release: release()
        case .endProject: end()
        // There are no probes, no reloads, no stop commands and no plans here.
        case .endReadiness, .watchLiveness, .endLiveness, .sendReload, .runStopCommand, .forget:
            break
        }
    }

    private func kill() {
        switch phase {
        case .launching(let ticket, _): if let ticket { host.spawner.cancel(ticket) }
        case .running(let tree): tree.kill()
        case .over: break
        }
    }

    /// Lets go of what is held for the process.
    func release() {
        sockets.close()
        tree?.close()
        phase = .over
    }

    /// The rules are done with it: what still lives outlived SIGKILL, and stays watched.
    private func end() { ending = .untold(survivors: tree?.members().map(\.pid) ?? []) }

    /// Lets go of those who wait for its end: this program may be gone a moment later.
    func tellEnd() {
        guard case .untold(let survivors) = ending else { return }
        ending = .told
        life.died.fulfil(nil)
        life.ready.fulfil(.failure(.endedBeforeReady(service: life.name, .unknown)))
        life.ended.fulfil(survivors)
    }

    /// Nobody asks for it any more.
    func close() {
        ownTimers?.close()
        ownTimers = nil
    }
}
