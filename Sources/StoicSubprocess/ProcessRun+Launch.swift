import EventLoop
import Glibc
import Orchestrator
import Stoic

/// From the wish for a launch to a running process, and what it says.
extension ProcessRun {
    func launch(_ incarnation: Incarnation) {
        let request: LaunchRequest
        do { request = try prepare(incarnation) } catch {
            return fail(incarnation, error)
        }
        let ticket = host.spawner.launch(request) { [weak self] outcome in
            self?.launched(incarnation, outcome)
        }
        if case .launching(_, let early) = phase { phase = .launching(ticket, early: early) }
    }

    private func prepare(_ incarnation: Incarnation) throws(LaunchFailure) -> LaunchRequest {
        let command = life.command
        var request = LaunchRequest(
            arguments: command.arguments, environment: command.variables,
            workingDirectory: try workingDirectory(), token: token)
        request.deathSignal = command.deathSignal
        if command.output == .inherited {
            request.descriptors = [.init(source: 1, target: 1), .init(source: 2, target: 2)]
        }
        let hear: (ServiceMessage) -> Void = { [weak self] in self?.hear($0, incarnation) }
        do {
            sockets = try ProcessSockets(
                host.loop, directory: try host.notifyDirectory(),
                hasChannel: command.hasControlChannel,
                isMember: { [weak self] in self?.contains($0) ?? false }, onMessage: hear)
        } catch let error as LaunchFailure {
            throw error
        } catch {
            throw LaunchFailure(step: "open its sockets: \(error)", errorNumber: 0)
        }
        if let end = sockets.childEnd {
            request.descriptors.append(.init(source: end, target: 3))
            request.environment.append("ORCHESTRATOR_FD=3")
        }
        request.environment += [
            "NOTIFY_SOCKET=\(sockets.path)", "ORCHESTRATOR_SERVICE=\(life.name)",
            "\(ProcessTree.markerName)=\(token)",
        ]
        return request
    }

    private func workingDirectory() throws(LaunchFailure) -> String {
        if let directory = life.command.workingDirectory { return directory }
        // SAFETY: `getcwd` is told how much room the array has.
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard unsafe getcwd(&buffer, buffer.count) != nil else {
            throw LaunchFailure(step: "find the working directory", errorNumber: errno)
        }
        return String(
            decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func launched(_ incarnation: Incarnation, _ outcome: LaunchOutcome) {
        sockets.closeChildEnd()
        guard case .launching(_, let early) = phase else { return }
        switch outcome {
        case .failed(let failure): fail(incarnation, failure)
        case .launched(let process):
            do {
                let tree = try ProcessTree(
                    process, token: token, leaf: nil, orphans: host.orphans)
                tree.onMainExit = { [weak self] in self?.mainExited(incarnation, $0) }
                tree.onEmpty = { [weak self] in self?.post(.process(incarnation, .treeEmpty)) }
                phase = .running(tree)
                life.events.report(
                    .processLaunched, .info,
                    [.init("service", life.name), .init("pid", Int(process.pid))])
                post(.process(incarnation, .launched))
                for message in early { hear(message, incarnation) }
            } catch {
                fail(incarnation, LaunchFailure(step: "watch it: \(error)", errorNumber: 0))
            }
        }
    }

    private func fail(_ incarnation: Incarnation, _ failure: LaunchFailure) {
        var words = failure.step
        if failure.errorNumber != 0 {
            words += ": " + SystemError(errno: failure.errorNumber, in: "launch").entry.meaning
        }
        life.ready.fulfil(.failure(.cannotLaunch(service: life.name, words)))
        release()
        post(.process(incarnation, .launchFailed(failure)))
    }

    /// Whether a process is of this program, also while its launch is under way.
    private func contains(_ pid: Int32) -> Bool {
        switch phase {
        case .launching: host.orphans.carries(pid, token)
        case .running(let tree): tree.contains(pid)
        case .over: false
        }
    }

    private func mainExited(_ incarnation: Incarnation, _ status: ExitStatus) {
        // What it said before it ended comes before its end.
        sockets.drain()
        let wasReady = life.ready.value != nil
        life.events.report(
            .processExited, isStopping ? .info : .warning,
            [.init("service", life.name), .init("status", status.words)])
        if !isStopping {
            life.ready.fulfil(.failure(.endedBeforeReady(service: life.name, status)))
            life.died.fulfil(wasReady ? .ended(service: life.name, status) : nil)
        }
        post(.process(incarnation, .mainExited(status)))
    }

    // MARK: What it says

    private func hear(_ message: ServiceMessage, _ incarnation: Incarnation) {
        if case .launching(let ticket, var early) = phase {
            guard early.count < Self.mostEarly else { return }
            early.append(message)
            phase = .launching(ticket, early: early)
            return
        }
        switch message {
        case .ready(let values):
            self.values = values
            isReadyEarly = true
            if isWatched { post(.message(incarnation, .ready)) }
        case .stopping: post(.message(incarnation, .stopping))
        case .hello: post(.message(incarnation, .channelOpened))
        case .mainPID(let pid): _ = tree?.adoptMain(pid)
        case .refused(let reason, let pid, _):
            life.events.report(
                .processMessageRefused, .warning,
                [.init("service", life.name), .init("reason", reason), .init("pid", Int(pid))])
        // A status is for people; watchdogs, reloads and longer starts are the graph's to grant,
        // and it grants none.
        case .status, .reloading, .extendTimeout, .watchdogPing, .watchdogTrigger,
            .watchdogInterval, .errno,
            .channelClosed:
            break
        }
    }
}
