import CProcess
import EventLoop
import Manifest
import Stoic

/// Decisions of the brain, recorded, and what the host itself learns from them.
extension Engine {
    var narrator: Narrator {
        Narrator { [unowned self] id in machine.spec(of: id).name.text }
    }

    func note(_ decision: LifecycleDecision) {
        let live = decision.incarnation.flatMap { lives[$0] }
        remember(decision, live)
        // Heard and of no consequence: a watchdog says so every few seconds.
        guard decision.what != .noted else { return }
        let service = decision.service.map { machine.spec(of: $0).name.text }
        let words = narrator.words(decision.what, service ?? "the project")
        var text = words.text
        var fields: [(String, FieldValue)] = []
        if case .failed(let failure) = decision.what, let live {
            (text, fields) = failureReport(failure, live, text)
        }
        let id = nextEventID()
        eventOfDecision[decision.id] = id
        var record = EventRecord(
            id: id, name: decision.what.name, level: words.level, message: text,
            at: EngineMoment.now().pair)
        record.cause = decision.cause.flatMap { eventOfDecision[$0] }
        record.service = service
        record.incarnation = decision.incarnation?.number
        record.fields = fields
        publish(record)
    }

    /// A failure in full: what was missing, and the last lines of output.
    private func failureReport(
        _ failure: ServiceFailure, _ live: LiveService, _ text: String
    ) -> (String, [(String, FieldValue)]) {
        var text = text
        if case .notReadyInTime = failure {
            let missing = live.readiness?.lastFailure ?? live.missing
            if !missing.isEmpty { text += ": \(missing)" }
        }
        if case .endedEarly(.code(0)) = failure, !(live.tree?.members() ?? []).isEmpty {
            text += "; it left processes in the background: have it stay in the foreground"
        }
        let lines = output.tail(of: live.name, lines: 20, incarnation: live.life).map(\.text)
        history[live.name, default: ServiceHistory()].lastFailure = text
        history[live.name, default: ServiceHistory()].lastOutput = lines
        var fields: [(String, FieldValue)] = []
        if !lines.isEmpty { fields.append(("output", .list(lines.map { .text($0) }))) }
        return (text, fields)
    }

    private func remember(_ decision: LifecycleDecision, _ live: LiveService?) {
        guard let id = decision.service else { return rememberProject(decision.what) }
        let name = machine.spec(of: id).name
        var entry = history[name] ?? ServiceHistory()
        switch decision.what {
        case .launching:
            entry.launches += 1
            entry.since = loop.now.awake
        case .ready, .completed:
            live?.noteReady()
            entry.since = loop.now.awake
        case .failed(let failure):
            entry.lastExit = failure.status ?? entry.lastExit
            entry.lastFailure = "\(name) \(failure.words)"
        case .exited(let status), .mainExited(let status): entry.lastExit = status
        case .stopping, .stopped, .restartScheduled, .abandoned, .waiting:
            entry.since = loop.now.awake
        default: break
        }
        history[name] = entry
    }

    private func rememberProject(_ verdict: Verdict) {
        switch verdict {
        case .projectUp:
            upstream.ready()
            upstream.status("everything is up")
            cproc_trim_memory()
        case .projectStopping:
            upstream.stopping()
            upstream.extendTimeout(project.exitBudget)
            upstream.status("stopping")
        case .planSettled: cproc_trim_memory()
        case .planRolledBack: definitions.rollBack()
        default: break
        }
    }

    func forget(_ id: ServiceID) {
        let name = machine.spec(of: id).name
        output.forget(name)
        history[name] = nil
    }

    func heard(_ wish: EngineSignals.Wish) {
        switch wish {
        case .stop(let number):
            inbox.post(Command(.stopProject(.signal(number)), by: signalText(number)))
        case .reload: reload(by: "SIGHUP", rollsBack: false)
        }
    }
}
