import CProcess
import EventLoop
import Glibc
import Manifest
import Stoic

/// From the brain's wish for a launch to a running process, or to the step that failed.
extension Engine {
    func launch(_ id: ServiceID, _ life: Incarnation) {
        let spec = machine.spec(of: id)
        guard let definition = definitions.definition(of: spec) else {
            let failure = LaunchFailure(step: "find the definition", errorNumber: 0)
            return post(life, .launchFailed(failure))
        }
        let live = LiveService(id, life, definition, self)
        lives[life] = live
        if var held = heldLaunches {
            held.append(live)
            heldLaunches = held
        } else {
            begin(live)
        }
    }

    /// What an engine that was killed left running is gone: launches may begin.
    func beginHeldLaunches() {
        let held = heldLaunches ?? []
        heldLaunches = nil
        for live in held where live.isLaunching { begin(live) }
    }

    /// Gathers what may take long, then launches.
    private func begin(_ live: LiveService) {
        let launch = live.definition.launch
        guard LaunchMaterials.areNeeded(for: launch) else { return spawn(live) }
        live.gathering = probeTimers.after(LaunchMaterials.limit) { [weak self] in
            self?.callOff(live, "no answer within \(LaunchMaterials.limit.words)")
        }
        do {
            try queueWork(loop, { LaunchMaterials.gather(for: launch) }) { [weak self] found in
                self?.gathered(live, found)
            }
        } catch {
            callOff(live, "\(error)")
        }
    }

    private func gathered(
        _ live: LiveService, _ found: Result<LaunchMaterials, LaunchFailure>
    ) {
        // It may have been called off meanwhile.
        guard let limit = live.gathering, live.isLaunching else { return }
        probeTimers.cancel(limit)
        live.gathering = nil
        switch found {
        case .success(let materials):
            live.materials = Shared(wrappedValue: materials)
            spawn(live)
        case .failure(let failure): post(live.life, .launchFailed(failure))
        }
    }

    private func spawn(_ live: LiveService) {
        var ends = ChildEnds()
        do {
            try reserve(live.life)
            let request = try prepare(live, &ends)
            pendingEnds[live.life] = ends.release()
            let ticket = spawner.launch(request) { [weak self] outcome in
                self?.launched(live, outcome)
            }
            // A launch without memory for it is answered at once.
            if pendingEnds[live.life] != nil { live.ticket = ticket }
        } catch {
            for end in ends.release() { Glibc.close(end) }
            post(live.life, .launchFailed(error))
        }
    }

    /// SIGKILL for a launch that was not answered: it is taken back wherever it is.
    func cancelLaunch(_ live: LiveService) {
        if let ticket = live.ticket { return spawner.cancel(ticket) }
        if live.gathering != nil { return callOff(live, "it was ended before that was known") }
        guard var held = heldLaunches, let index = held.firstIndex(where: { $0 === live }) else {
            return
        }
        held.remove(at: index)
        heldLaunches = held
        post(live.life, .launchFailed(.endedEarly("wait for what was left running")))
    }

    private func callOff(_ live: LiveService, _ reason: String) {
        guard let limit = live.gathering else { return }
        probeTimers.cancel(limit)
        live.gathering = nil
        post(
            live.life,
            .launchFailed(
                LaunchFailure(
                    step: "look up its user and read its environment files: \(reason)",
                    errorNumber: 0)))
    }

    /// No number is given twice, not even by an engine that starts after this one was killed.
    private func reserve(_ life: Incarnation) throws(LaunchFailure) {
        do { try record?.reserve(life) } catch {
            throw LaunchFailure(step: "reserve its number: \(error)", errorNumber: 0)
        }
    }

    private func launched(
        _ live: LiveService, _ outcome: LaunchOutcome
    ) {
        for end in pendingEnds.removeValue(forKey: live.life) ?? [] { Glibc.close(end) }
        live.ticket = nil
        switch outcome {
        case .launched(let process):
            recordLaunch(of: live, process)
            do {
                let tree = try ProcessTree(
                    process, token: token(live.life), leaf: live.leaf, orphans: orphans)
                live.started(tree)
            } catch {
                post(
                    live.life,
                    .launchFailed(LaunchFailure(step: "watch it: \(error)", errorNumber: 0)))
            }
        case .failed(let failure): post(live.life, .launchFailed(failure))
        }
    }

    /// Opens what the process gets, and describes it.
    private func prepare(
        _ live: LiveService, _ ends: inout ChildEnds
    ) throws(LaunchFailure) -> LaunchRequest {
        let definition = live.definition
        let resolve = resolver(for: definition)
        let materials = live.materials?.wrappedValue ?? LaunchMaterials()
        var environment = try ChildEnvironment(
            definition.launch, own: ownEnvironment, materials: materials, resolve: resolve)
        live.environment = environment
        var arguments: [String] = []
        for template in definition.launch.command {
            guard let argument = resolve(template) else {
                throw .unresolved(template, "its command")
            }
            arguments.append(argument)
        }
        var request = LaunchRequest(
            arguments: arguments, environment: [],
            workingDirectory: definition.launch.workingDirectory, token: token(live.life))
        request.identity = materials.identity
        request.umask = definition.launch.umask
        request.nice = definition.launch.nice
        request.limits = try limits(of: definition.launch)
        live.leaf = try leaf(of: definition)
        request.cgroup = live.leaf?.directory.number
        request.insistsOnCgroup = definition.launch.isolatesInCgroup == true
        try openOutput(live, &request, &ends)
        try openMessages(live, &request, &environment, &ends)
        environment.set("ORCHESTRATOR_SERVICE", live.name.text)
        environment.set(ProcessTree.markerName, "\(token(live.life))")
        request.environment = environment.variables
        return request
    }

    private func openOutput(
        _ live: LiveService, _ request: inout LaunchRequest, _ ends: inout ChildEnds
    ) throws(LaunchFailure) {
        let log = output.log(for: live.name, live.definition.output)
        let streams: [(OutputStream, [CInt])] =
            live.definition.output.separatesErrors
            ? [(.standardOutput, [1]), (.standardError, [2])] : [(.combined, [1, 2])]
        for (stream, targets) in streams {
            let (ours, theirs) = try ends.pipe()
            for target in targets {
                request.descriptors.append(.init(source: theirs, target: target))
            }
            do {
                live.capture(
                    try PipeCapture(
                        loop, descriptor: OwnedDescriptor(owning: ours), log: log,
                        incarnation: live.life, stream: stream))
            } catch {
                throw LaunchFailure(step: "watch its output: \(error)", errorNumber: 0)
            }
        }
    }

    private func openMessages(
        _ live: LiveService, _ request: inout LaunchRequest,
        _ environment: inout ChildEnvironment, _ ends: inout ChildEnds
    ) throws(LaunchFailure) {
        do {
            let notify = try NotifySocket(
                loop, directory: try notifyDirectory(), owner: request.identity?.user ?? geteuid(),
                isMember: { [weak live] pid in live?.contains(pid) ?? false },
                onMessage: { [weak live] message in live?.hear(message) })
            live.notify = notify
            environment.set("NOTIFY_SOCKET", notify.path)
            if live.definition.hasControlChannel {
                let channel = try ControlChannel(
                    loop, isMember: { [weak live] pid in live?.contains(pid) ?? false },
                    onMessage: { [weak live] message in live?.hear(message) })
                live.channel = channel
                let end = channel.takeChildEnd()
                ends.keep(end)
                request.descriptors.append(.init(source: end, target: 3))
                environment.set("ORCHESTRATOR_FD", "3")
            }
        } catch {
            throw LaunchFailure(step: "open its sockets: \(error)", errorNumber: 0)
        }
        for number in live.definition.ready.descriptors {
            let (ours, theirs) = try ends.pipe()
            live.readyPipes[number] = ours
            request.descriptors.append(.init(source: theirs, target: number))
        }
        if let interval = live.definition.spec.watchdog {
            environment.set("WATCHDOG_USEC", "\(interval.messageMicroseconds)")
            request.pidVariables.append("WATCHDOG_PID")
        }
    }

    private func notifyDirectory() throws(ProjectError) -> String {
        // SAFETY: the path is a text of ours, which lives through the call.
        if unsafe access(directories.notify, W_OK) != 0 { try directories.ensure() }
        return directories.notify
    }

    // MARK: Details

    /// Values of declared needs, as they are now.
    func resolver(for definition: ServiceDefinition) -> (Template) -> String? {
        { [unowned self] template in
            template.resolved { service, key in self.provided(service, key) }
        }
    }

    private func provided(_ service: ServiceName, _ key: String) -> String? {
        guard let id = machine.service(named: service),
            let definition = definitions.definition(of: machine.spec(of: id)),
            let declared = definition.provides[key]
        else { return nil }
        if let template = declared { return resolver(for: definition)(template) }
        guard let life = machine.state(of: id).incarnation else { return nil }
        return lives[life]?.values[key]
    }

    func limits(
        of launch: LaunchDefinition
    ) throws(LaunchFailure) -> [LaunchRequest.Limit] {
        var limits: [LaunchRequest.Limit] = []
        for (name, limit) in launch.limits.sorted(by: { $0.key < $1.key }) {
            guard let number = resourceNumber(named: name) else {
                throw LaunchFailure(step: "limit \(name): no such limit", errorNumber: 0)
            }
            limits.append(
                LaunchRequest.Limit(
                    resource: number, soft: limit.soft ?? .max, hard: limit.hard ?? .max))
        }
        return limits
    }

    /// The cgroup of a service: where there is a tree that we may write to, unless the config says
    /// no; where it insists, having none is a failure.
    private func leaf(of definition: ServiceDefinition) throws(LaunchFailure) -> CgroupLeaf? {
        let wish = definition.launch.isolatesInCgroup
        guard wish ?? true else { return nil }
        if let leaf = cgroups?.leaf(named: definition.spec.name.text) { return leaf }
        guard wish == true else { return nil }
        let reason =
            cgroups == nil
            ? "we may not write to a cgroup2 tree here; have one delegated to us"
            : "its cgroup cannot be made"
        throw LaunchFailure(
            step: "give it a cgroup of its own, on which isolate: cgroup insists: \(reason)",
            errorNumber: 0)
    }

    /// What tells the processes of an incarnation from all others.
    func token(_ life: Incarnation) -> UInt64 { tokenBase &+ life.number }

    private func recordLaunch(of live: LiveService, _ process: LaunchedProcess) {
        guard let record, let boot = bootID else { return }
        let stamp = ProcessStamp(boot: boot, pid: process.pid, startTime: process.startTime)
        do {
            try record.add(
                LaunchRecord.Entry(
                    process: stamp, token: token(live.life), incarnation: live.life,
                    service: live.name))
        } catch {
            tell(
                "engine.recordFailed", about: live, .warning,
                "cannot record the launch of \(live.name): \(error)")
        }
    }
}

/// The child's ends of what was opened for one launch, until the launch is over.
struct ChildEnds {
    private var ends: [CInt] = []

    /// A pipe: our end non-blocking, both close-on-exec.
    mutating func pipe() throws(LaunchFailure) -> (ours: CInt, theirs: CInt) {
        var ours: CInt = -1
        var theirs: CInt = -1
        // SAFETY: it fills two numbers, and keeps no pointer.
        let error = unsafe cproc_pipe(&ours, &theirs)
        guard error == 0 else {
            throw LaunchFailure(step: "make a pipe for it", errorNumber: error)
        }
        ends.append(theirs)
        return (ours, theirs)
    }

    mutating func keep(_ end: CInt) { ends.append(end) }

    mutating func release() -> [CInt] {
        defer { ends = [] }
        return ends
    }
}
