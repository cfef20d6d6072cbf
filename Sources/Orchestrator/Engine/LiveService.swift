import CLifecycle
import EventLoop
import Glibc
import Manifest
package import Stoic

/// Everything the host holds for one incarnation: its tree, its sockets, its pipes. Made before the
/// launch, so that nothing the process says can come too early; closed when the brain releases it.
final class LiveService {
    let id: ServiceID
    let life: Incarnation
    let definition: ServiceDefinition
    unowned let engine: Engine
    /// What the launch left undone until the process is there.
    private(set) var phase = Phase.launching(early: [])
    var notify: NotifySocket?
    var channel: ControlChannel?
    var captures: [PipeCapture] = []
    var readiness: ReadinessWatch?
    private(set) var liveness: LivenessWatch?
    /// Our ends of the pipes behind `ready: {fd: N}`.
    var readyPipes: [Int32: CInt] = [:]
    /// What it said and wrote before anybody watched for its readiness: the launch is answered in
    /// one callback, and watched from the end of that turn on.
    private var unwatched = Unwatched()
    /// The last words of the readiness watch, kept for the failure's message.
    private(set) var missing = ""
    /// One line for people, of its own making.
    private(set) var status = ""
    private(set) var launchedAt = Duration.zero
    private(set) var readyAt: Duration?
    /// Values it sent with READY.
    private(set) var values: [String: String] = [:]
    /// The last thing done to it during a stop, and when.
    private(set) var lastAct: (what: String, at: Duration)?
    private var cancelStopCommand: (() -> Void)?
    /// What was gathered for its launch.
    var materials: Shared<LaunchMaterials>?
    /// The environment its commands run in: its own, without its sockets.
    var environment = ChildEnvironment()
    /// Its cgroup, if it has one.
    var leaf: CgroupLeaf?
    /// The bound of gathering, while that is under way.
    var gathering: TimerTable.Token?
    /// Its launch, while that is under way.
    var ticket: Spawner.Ticket?

    enum Phase {
        /// Messages that came before the launch was answered are kept, at most so many as one round
        /// of reading brings.
        case launching(early: [ServiceMessage])
        case running(ProcessTree)
        case closed
    }

    private struct Unwatched {
        var isReady = false
        var output: [UInt8] = []
    }

    /// Bytes of output kept before anybody watches: what a pipe holds.
    static let mostUnwatched = 64 << 10
    /// Messages kept before the launch is answered.
    static let mostEarly = 64
    /// Bytes read from a pipe after the main process ended: what an ordinary pipe holds, and more.
    static let drainLimit = 1 << 20

    init(_ id: ServiceID, _ life: Incarnation, _ definition: ServiceDefinition, _ engine: Engine) {
        self.id = id
        self.life = life
        self.definition = definition
        self.engine = engine
    }

    var name: ServiceName { definition.spec.name }

    var tree: ProcessTree? {
        guard case .running(let tree) = phase else { return nil }
        return tree
    }

    /// Whether its launch was not answered yet.
    var isLaunching: Bool {
        guard case .launching = phase else { return false }
        return true
    }

    /// Whether a process is of this incarnation. Also while its launch is under way: it may have
    /// said already where it can be written to.
    func contains(_ pid: pid_t) -> Bool {
        switch phase {
        case .launching: engine.orphans.carries(pid, engine.token(life))
        case .running(let tree): tree.contains(pid)
        case .closed: false
        }
    }

    /// The launch succeeded.
    func started(_ tree: ProcessTree) {
        guard case .launching(let early) = phase else { return }
        phase = .running(tree)
        launchedAt = engine.loop.now.awake
        tree.onMainExit = { [weak self] status in self?.mainExited(status) }
        tree.onEmpty = { [weak self] in
            guard let self else { return }
            engine.post(life, .treeEmpty)
        }
        engine.post(life, .launched)
        for message in early { hear(message) }
    }

    // MARK: What it says

    func hear(_ message: ServiceMessage) {
        if case .launching(var early) = phase {
            guard early.count < Self.mostEarly else { return }
            early.append(message)
            phase = .launching(early: early)
            return
        }
        switch message {
        case .ready(let values): heardReady(values)
        case .status(let text): status = text
        case .stopping: engine.post(life, .stopping)
        case .reloading: engine.post(life, .notReady("it reads its config again"))
        case .mainPID(let pid): takeMain(pid)
        case .watchdogPing: engine.post(life, .watchdogPing)
        case .watchdogTrigger: engine.post(life, .watchdogTrigger)
        case .watchdogInterval(let interval): engine.post(life, .watchdogInterval(interval))
        case .extendTimeout(let more): engine.post(life, .extendTimeout(more))
        case .errno(let number): status = "error: \(SystemError.meaning(of: number))"
        case .hello: engine.post(life, .channelOpened)
        case .channelClosed: break
        case .refused(let reason, let pid, let suppressed):
            var fields: [(String, FieldValue)] = [("pid", .integer(Int64(pid)))]
            if suppressed > 0 { fields.append(("suppressed", .integer(Int64(suppressed)))) }
            engine.tell(
                "service.messageRefused", about: self, .warning,
                "\(name): a message of pid \(pid) was refused: \(reason)", fields)
        }
    }

    private func heardReady(_ new: [String: String]) {
        let changed = !values.isEmpty && new != values
        values = new
        if let readiness { readiness.noteNotifyReady() } else { unwatched.isReady = true }
        guard readyAt != nil else { return }
        // Those that were handed the old value must not go on with it: a changed value is a lost
        // need.
        if changed { engine.post(life, .notReady("the values it provides have changed")) }
        engine.post(life, .ready)
    }

    private func takeMain(_ pid: Int32) {
        guard let tree, !tree.adoptMain(pid) else { return }
        engine.tell(
            "service.mainRefused", about: self, .warning,
            "\(name): MAINPID=\(pid) was refused: it is no process of this service",
            [("pid", .integer(Int64(pid)))])
    }

    private func mainExited(_ status: ExitStatus) {
        drain()
        engine.post(life, .mainExited(status))
    }

    /// What it said and wrote before it ended comes before its end.
    private func drain() {
        notify?.drain()
        channel?.drain()
        readiness?.drain()
        for capture in captures { capture.drain(limit: Self.drainLimit) }
    }

    // MARK: What the brain asks for

    func watchReadiness() {
        let context = engine.readinessContext(for: self)
        let watch = ReadinessWatch(definition.ready, context: context) { [weak self] in
            guard let self else { return }
            engine.post(life, .ready)
        }
        readiness = watch
        if unwatched.isReady { watch.noteNotifyReady() }
        // SAFETY: the bytes are read within the closure.
        unsafe unwatched.output.withUnsafeBytes { unsafe watch.noteOutput($0) }
        unwatched = Unwatched()
    }

    /// What it writes is looked at from its first byte on, where its readiness depends on it.
    func capture(_ capture: PipeCapture) {
        captures.append(capture)
        guard definition.ready.readsOutput else { return }
        capture.onBytes = { [weak self] bytes in
            guard let self else { return }
            // SAFETY: the bytes are read, or copied, within the closure.
            unsafe bytes.withUnsafeBytes { bytes in
                if let readiness {
                    unsafe readiness.noteOutput(bytes)
                } else {
                    let room = Self.mostUnwatched - unwatched.output.count
                    unsafe unwatched.output += bytes.prefix(room)
                }
            }
        }
    }

    func endReadiness() {
        for capture in captures { capture.onBytes = nil }
        guard let readiness else { return }
        missing = readiness.lastFailure
        readiness.close()
        self.readiness = nil
    }

    func watchLiveness() {
        guard let live = definition.live?.wrappedValue else { return }
        let context = engine.readinessContext(for: self)
        var told: String?
        liveness = LivenessWatch(live, context: context) { [weak self] outcome in
            guard let self else { return }
            defer { told = outcome.words }
            switch outcome {
            case .passed: engine.post(life, .probePassed)
            case .failed(let reason): engine.post(life, .probeFailed(reason))
            // Our own trouble is not held against the service; it is said once.
            case .notRun(let reason):
                guard told != reason else { return }
                engine.tell(
                    "service.probeNotRun", about: self, .warning,
                    "\(name): its liveness probe says nothing: \(reason)")
            }
        }
    }

    func endLiveness() {
        liveness?.close()
        liveness = nil
    }

    /// Our ends of its readiness pipes; they belong to the caller from now on.
    func takeReadyPipes() -> [Int32: CInt] {
        defer { readyPipes = [:] }
        return readyPipes
    }

    func noteReady() { readyAt = readyAt ?? engine.loop.now.awake }

    func sendStop(_ exit: LifecycleEffect.Exit, deadline: Duration) {
        noteAct("stop message")
        channel?.sendStop(reason: exit.reason, deadline: deadline)
    }

    func sendReload() { channel?.sendReload() }

    func signal(_ number: Int32, to target: SignalTarget) {
        noteAct(signalText(number))
        tree?.signal(number, to: target)
    }

    func signalRest(_ number: Int32) {
        noteAct(signalText(number))
        tree?.signalRest(number)
    }

    func kill() {
        noteAct("SIGKILL")
        switch phase {
        case .launching: engine.cancelLaunch(self)
        case .running(let tree): tree.kill()
        case .closed: break
        }
    }

    private func noteAct(_ what: String) { lastAct = (what, engine.loop.now.awake) }

    func runStopCommand(_ index: Int, _ exit: LifecycleEffect.Exit, deadline: Duration) {
        guard definition.stopCommands.indices.contains(index) else { return }
        noteAct("stop command")
        cancelStopCommand?()
        cancelStopCommand = engine.runStopCommand(
            definition.stopCommands[index], of: self, exit, deadline: deadline)
    }

    /// The brain is done with it. What still holds its pipes, if anything, is not waited for.
    func close() {
        endReadiness()
        endLiveness()
        for pipe in readyPipes.values { Glibc.close(pipe) }
        readyPipes = [:]
        cancelStopCommand?()
        cancelStopCommand = nil
        notify?.close()
        channel?.close()
        for capture in captures {
            capture.drain(limit: Self.drainLimit)
            capture.finish()
        }
        captures = []
        tree?.close()
        phase = .closed
        engine.probeTimers.cancel(gathering)
        gathering = nil
    }
}

extension LifecycleEffect.Exit {
    /// Why things end, in words.
    package var reason: String {
        switch self {
        case .success: "everything has ended"
        case .failure(let words), .cancelled(let words): words
        }
    }

    /// One word for `ORCHESTRATOR_EXIT`.
    var word: String {
        switch self {
        case .success: "success"
        case .failure: "failure"
        case .cancelled: "cancelled"
        }
    }
}

extension ReadyDefinition {
    /// Whether it looks at what the service writes.
    var readsOutput: Bool {
        switch self {
        case .log: true
        case .all(let parts), .any(let parts): parts.contains(where: \.readsOutput)
        case .started, .notify, .descriptor, .tcp, .unix, .exec, .file, .delay, .completion: false
        }
    }

    /// The descriptors of the child that it listens on.
    var descriptors: [Int32] {
        switch self {
        case .descriptor(let number): [number]
        case .all(let parts), .any(let parts): parts.flatMap(\.descriptors)
        case .started, .notify, .tcp, .unix, .exec, .log, .file, .delay, .completion: []
        }
    }
}
