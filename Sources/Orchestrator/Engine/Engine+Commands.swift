import EventLoop
import Glibc
import Manifest
import Stoic

/// Commands run on behalf of a service.
extension Engine {
    /// What a watch of `live` may use. Its pipes are taken by the first, that of its readiness.
    func readinessContext(for live: LiveService) -> ReadinessContext {
        ReadinessContext(
            loop: loop, timers: probeTimers,
            runProbe: { [weak self, weak live] arguments, timeout, completion in
                guard let self, let live else { return {} }
                return runCommand(
                    arguments, of: live, extra: [], timeout: timeout, completion: completion)
            },
            descriptors: live.takeReadyPipes(), resolve: resolver(for: live.definition))
    }

    /// Runs a stop command. Its outcome is recorded and changes nothing: the rung has its own
    /// bound.
    func runStopCommand(
        _ command: [Template], of live: LiveService, _ exit: LifecycleEffect.Exit,
        deadline: Duration
    ) -> () -> Void {
        let arguments = command.compactMap(resolver(for: live.definition))
        guard arguments.count == command.count else { return {} }
        let extra = [
            ("ORCHESTRATOR_EXIT", exit.word), ("ORCHESTRATOR_EXIT_REASON", exit.reason),
            ("MAINPID", "\(live.tree?.mainPid ?? 0)"),
        ]
        return runCommand(arguments, of: live, extra: extra, timeout: deadline) {
            [weak self, weak live] outcome in
            guard let self, let live else { return }
            let words: String
            switch outcome {
            case .ended(.code(0), _): return
            case .ended(let status, _): words = status.words
            case .tookTooLong(let reason), .notRun(let reason): words = reason
            }
            tell(
                "service.stopCommandFailed", about: live, .warning,
                "\(live.name): the stop command \(arguments[0]) \(words)")
        }
    }

    /// Runs `arguments` with the service's identity, directory and environment, as they were at its
    /// launch.
    func runCommand(
        _ arguments: [String], of live: LiveService, extra: [(String, String)], timeout: Duration,
        completion: @escaping (CommandOutcome) -> Void
    ) -> () -> Void {
        var ends = ChildEnds()
        do {
            var request = try commandRequest(arguments, of: live, extra: extra)
            let (ours, theirs) = try ends.pipe()
            request.descriptors += [
                .init(source: theirs, target: 1), .init(source: theirs, target: 2),
            ]
            let number = nextRun
            nextRun += 1
            let run = try CommandRun(
                of: live.name, pipe: ours, engine: self, timeout: timeout, completion: completion,
                onOver: { [weak self] in self?.runEnded(number) })
            runs[number] = run
            let token = request.token
            let held = ends.release()
            run.ticket = spawner.launch(request) { [weak self] outcome in
                for end in held { Glibc.close(end) }
                self?.started(run, outcome, token: token)
            }
            return { [weak run] in run?.cancel() }
        } catch {
            for end in ends.release() { Glibc.close(end) }
            let words = (error as? LaunchFailure)?.words ?? "\(error)"
            // Never before we returned: the caller has not kept the way to cancel it yet.
            _ = probeTimers.after(.zero) { completion(.notRun(words)) }
            return {}
        }
    }

    private func started(
        _ run: CommandRun, _ outcome: LaunchOutcome, token: UInt64
    ) {
        switch outcome {
        case .launched(let process):
            do {
                run.started(try ProcessTree(process, token: token, leaf: nil, orphans: orphans))
            } catch {
                run.failed(LaunchFailure(step: "watch it: \(error)", errorNumber: 0))
            }
        case .failed(let failure): run.failed(failure)
        }
    }

    private func commandRequest(
        _ arguments: [String], of live: LiveService, extra: [(String, String)]
    ) throws(LaunchFailure) -> LaunchRequest {
        let launch = live.definition.launch
        var environment = live.environment
        environment.set("ORCHESTRATOR_SERVICE", live.name.text)
        for (name, value) in extra { environment.set(name, value) }
        var request = LaunchRequest(
            arguments: arguments, environment: environment.variables,
            workingDirectory: launch.workingDirectory, token: runToken(nextRun))
        // The record of launches knows services alone: nobody would find what outlived us.
        request.deathSignal = SIGKILL
        request.identity = live.materials?.wrappedValue.identity
        request.umask = launch.umask
        request.limits = try limits(of: launch)
        return request
    }

    /// Tokens of runs count down from the top of our range, those of incarnations up from its
    /// bottom.
    private func runToken(_ number: UInt64) -> UInt64 { tokenBase | (0x3FFF_FFFF &- number) }
}
