import CProcess
import EventLoop
import Glibc
public import Manifest
import Stoic

/// The host of one project: events from the kernel into the brain, the brain's effects onto the
/// kernel.
///
/// One thread, the process's first, owns the loop, every handle and the brain. It decides nothing:
/// rules of starting, stopping and failing are the `LifecycleMachine`'s.
public final class Engine {
    let loop: Loop
    let options: EngineOptions
    let directories: ProjectDirectories
    let journal: EventJournal
    let output: OutputStore
    let spawner: Spawner
    let orphans: OrphanWatch
    let cgroups: CgroupForest?
    let probeTimers: TimerTable
    let ownEnvironment: [String: String]
    let tokenBase: UInt64
    let bootID: String?
    let startedAt: EngineMoment
    let upstream: UpstreamNotifier

    /// Called after each turn in which anything happened; it must not wait.
    public var afterTurn: (() -> Void)?
    var project: ProjectDefinition
    var definitions: Definitions
    var machine: LifecycleMachine
    var inbox = EngineInbox()
    var pendingEffects: [LifecycleEffect] = []
    var firedTimers: [TimerID: EngineTimers.Fired] = [:]
    var lives: [Incarnation: LiveService] = [:]
    /// Children's ends of pipes, open until the launch is answered.
    var pendingEnds: [Incarnation: [CInt]] = [:]
    var waiters: [EngineWaiter] = []
    var history: [ServiceName: ServiceHistory] = [:]
    var phase = Phase.running
    var eventOfDecision = DecisionEvents()
    /// Commands that run on behalf of services.
    var runs: [UInt64: CommandRun] = [:]
    /// Launches that wait for leftovers of a killed engine to be stopped; `nil` from then on.
    var heldLaunches: [LiveService]?
    /// The bound of the sweep at the end.
    var sweepLimit: TimerTable.Token?
    /// Who waits for the next reading of the config.
    var configReaders: [(ConfigReading) -> Void] = []
    var isReadingConfig = false
    var nextRun: UInt64 = 0
    /// Clients that follow logs or events.
    var followers = 0
    /// Requests whose logs are being read.
    var logReads: [StopFlag] = []
    /// Bytes of logs that wait for clients.
    var heldLogBytes = 0
    var record: LaunchRecord?
    private var lock: InstanceLock?
    private var server: ControlServer?
    private var signals: EngineSignals?
    private var ownTimers: EngineTimers?
    private var ownEvents: UInt64 = 0

    enum Phase {
        case running
        /// The brain is done; strangers that nobody claims are what is left.
        case sweeping(ProjectOutcome, strangersAreGone: Bool)
        case over(ProjectResult)
    }

    /// The brain's timers. They exist from the end of `init` on.
    var timers: EngineTimers {
        guard let ownTimers else { preconditionFailure("the engine has no timers yet") }
        return ownTimers
    }

    /// Takes the project over: its lock, its directories, its control socket. Nothing is started.
    /// - Throws: `EngineError`; nothing of ours is left behind then.
    public init(_ project: ProjectDefinition, options: EngineOptions) throws(EngineError) {
        let project = project.withBudgetOfItsPlace()
        self.project = project
        self.options = options
        startedAt = EngineMoment.now()
        upstream = UpstreamNotifier()
        ownEnvironment = ChildEnvironment.inherited()
        bootID = ProcessStamp.bootID()
        tokenBase = (UInt64.random(in: 1...0xFFFF_FFFF) << 30) & 0x3FFF_FFFF_C000_0000
        definitions = Definitions(project)
        cproc_raise_descriptor_limit()
        let relay = ReportRelay()
        var taken: ProjectDirectories?
        do {
            // Before anything of ours can be left behind by a signal that ends us.
            loop = try Loop()
            signals = try EngineSignals(loop) { relay.heard($0) }
            // With all its threads now: there may be no room for them later.
            try startPool()
            let identity = try ProjectIdentity(file: project.file, name: project.name)
            directories = try ProjectDirectories(
                identity, stateDirectory: project.stateDirectory, environment: ownEnvironment)
            try directories.ensureState()
            lock = try InstanceLock.acquire(
                path: directories.lockFile, socket: directories.controlSocket)
            // Not before: an engine that ends removes its runtime directories before its lock.
            taken = directories
            try directories.ensure()
            record = try LaunchRecord(in: directories.state)
            let first = try record?.nextIncarnation().number ?? 1
            machine = try LifecycleMachine(
                sharing: project.services.map(\.$spec),
                settings: LifecycleMachine.Settings(project, lastIncarnation: first - 1))
            let clock = OutputClock.system
            journal = EventJournal(file: directories.events, clock: clock)
            output = OutputStore(directory: directories.logs) { relay.send($0) }
            probeTimers = try TimerTable(loop)
            spawner = try Spawner(loop)
            orphans = try OrphanWatch(loop, spawner: spawner) { relay.found($0) }
            cgroups = CgroupForest.plant(project: identity.id)
            relay.engine = self
            output.onLine = options.onLine
            ownTimers = try EngineTimers(loop) { [unowned self] in inbox.post($0) }
            server = try ControlServer(
                loop, path: directories.controlSocket, handler: self,
                report: { [unowned self] in tell("control.notice", .notice, $0.description) })
            server?.makeDirectory = { [directories] () throws(ProjectError) in
                try directories.ensure()
            }
        } catch {
            taken?.removeEmptyRuntime()
            throw EngineError(error)
        }
        loop.onTurnEnd { [unowned self] in turn() }
        // After what the turn did, so that nobody waits for the disk, and nothing for the next one.
        journal.attach(to: loop)
        journal.onLoss = { [options] lost, error in
            options.onTrouble?("\(lost) events could not be recorded: \(error)")
        }
    }

    /// Runs the project to its end.
    /// - Returns: How it ended. Nothing of ours is left, except what the result names.
    public func run() -> ProjectResult {
        begin()
        do {
            try stopLeftovers()
            if upstream.watchdogInterval != nil { try upstream.startWatchdog(loop) }
            try loop.run()
        } catch {
            tell("defect", .error, "the loop failed: \(error)")
            journal.close()
        }
        guard case .over(let result) = phase else {
            return ProjectResult(outcome: nil, cause: "the loop ended by itself", survivors: [])
        }
        return result
    }

    /// What an engine that was killed left running would fight with ours over ports and files.
    ///
    /// It is stopped on a thread of the pool; launches wait for that.
    private func stopLeftovers() throws(UVError) {
        guard let record, !record.leftovers.isEmpty else { return }
        heldLaunches = []
        let leftovers = Leftovers(record.leftovers, project)
        try queueWork(loop, { leftovers.stop() }) { [weak self] in self?.leftoversEnded($0) }
    }

    private func leftoversEnded(_ outcomes: [Leftovers.Outcome]) {
        guard case .running = phase else { return }
        for (entry, found, left) in outcomes.map({ ($0.entry, $0.found, $0.left) }) {
            if left == 0 { record?.forget(entry.incarnation) }
            guard found > 0 else { continue }
            tell(
                "engine.leftoverStopped", left == 0 ? .notice : .error,
                "\(entry.service) was left running by an engine that was killed: "
                    + (left == 0 ? "stopped" : "\(left) of its processes cannot be stopped"),
                [("pid", .integer(Int64(entry.process.pid)))])
        }
        beginHeldLaunches()
    }

    private func begin() {
        if options.names.isEmpty {
            inbox.post(Command(.up, by: options.requester))
        } else {
            let ids = options.names.compactMap { machine.service(named: $0) }
            inbox.post(Command(.start(ids), by: options.requester))
        }
    }

    func post(_ life: Incarnation, _ fact: ProcessFact) { inbox.post(life, fact) }
    func post(_ life: Incarnation, _ fact: MessageFact) { inbox.post(life, fact) }

    // MARK: Records

    /// Records an event of the engine's own, between two of the brain's.
    func tell(
        _ name: String, about live: LiveService? = nil, _ level: EventLevel, _ message: String,
        _ fields: [(String, FieldValue)] = []
    ) {
        var record = EventRecord(
            id: nextEventID(), name: name, level: level, message: message,
            at: EngineMoment.now().pair)
        record.service = live?.name.text
        record.incarnation = live?.life.number
        record.fields = fields
        publish(record)
    }

    func nextEventID() -> UInt64 {
        ownEvents += 1
        return ownEvents
    }

    func publish(_ record: EventRecord) {
        journal.append(record)
        options.onEvent?(record)
        for waiter in waiters where waiter.isOpen { waiter.hear(record) }
    }

    /// Lets go of everything, in the order in which it was taken.
    func close(_ result: ProjectResult) {
        phase = .over(result)
        for read in logReads { read.set() }
        upstream.close()
        server?.close()
        signals?.close()
        for live in lives.values { live.close() }
        lives = [:]
        for run in runs.values { run.cancel() }
        runs = [:]
        timers.close()
        probeTimers.close()
        orphans.close()
        spawner.close()
        cgroups?.close()
        output.close()
        journal.close()
        do {
            if result.survivors.isEmpty { try record?.finish() }
        } catch {
            options.onTrouble?("cannot finish the record of launches: \(error)")
        }
        for failure in directories.removeRuntime() {
            options.onTrouble?("cannot clean up: \(failure)")
        }
        lock?.release()
        loop.stop()
    }
}
