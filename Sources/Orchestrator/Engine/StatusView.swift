import Manifest
import EventLoop
package import Stoic

/// The state of everything, as the control API shows it.
extension Engine {
    var statusView: JSONValue {
        .object([
            "project": projectView,
            "services": .array(machine.services.map(serviceView)),
        ])
    }

    private var projectView: JSONValue {
        .object([
            "name": .string(directories.identity.description),
            "id": .string(directories.identity.id),
            "file": .string(project.file),
            "pid": .integer(Int64(bitPattern: UInt64(getOwnPID()))),
            "state": .string(machine.phase.word),
            "startedAt": .string(WallTime(nanoseconds: startedAt.wall).utc),
            "since": .number((EngineMoment.now().monotonic - startedAt.monotonic).seconds),
            "exitBudget": .number(project.exitBudget / .seconds(1)),
            "stateDirectory": .string(directories.state),
        ])
    }

    func serviceView(_ id: ServiceID) -> JSONValue {
        let spec = machine.spec(of: id)
        let state = machine.state(of: id)
        let live = state.incarnation.flatMap { lives[$0] }
        let past = history[spec.name] ?? ServiceHistory()
        var members: [JSONObject.Member] = []
        func add(_ key: String, _ value: JSONValue?) {
            if let value { members.append(.init(key: key, value: value)) }
        }
        add("name", .string(spec.name.text))
        add("type", .string(spec.kind.word))
        add("state", .string(state.word))
        add("health", state.healthWord.map { .string($0) })
        add("wanted", .bool(machine.isWanted(id)))
        add("reason", reason(id, state, past).map { .string($0) })
        add("blockers", blockersView(id))
        add("pid", live?.tree.map { .integer(Int64($0.mainPid)) })
        add("incarnation", state.incarnation.map { .integer(Int64(clamping: $0.number)) })
        add("restarts", .integer(Int64(max(past.launches - 1, 0))))
        let now = loop.now.awake
        if case .up = state, let ready = live?.readyAt {
            add("readyFor", .number((now - ready) / .seconds(1)))
        }
        add("stateFor", .number((now - past.since) / .seconds(1)))
        if case .backingOff = state {
            let left = timers.remaining(.backoff(id)) ?? .zero
            add("nextStart", .number(left / .seconds(1)))
            add("attempt", .integer(Int64(machine.restartStep(of: id))))
        }
        add("stopping", stopView(id, state, live))
        let definition = definitions.definition(of: spec)
        add("description", definition?.description.map { .string($0) })
        if let status = live?.status, !status.isEmpty { add("status", .string(status)) }
        add("lastExit", past.lastExit.map { .string($0.words) })
        add("lastFailure", past.lastFailure.map { .string($0) })
        return .object(JSONObject(members))
    }

    /// Why it is in its state, where that needs saying.
    private func reason(
        _ id: ServiceID, _ state: ServiceState, _ past: ServiceHistory
    ) -> String? {
        switch state {
        case .waiting:
            return machine.blockers(of: id).map { blocker in
                "\(machine.spec(of: blocker.service).name) \(blocker.2.blockingWords)"
            }.joined(separator: "; ")
        case .starting(let life, _):
            let missing = lives[life]?.readiness?.lastFailure ?? ""
            return missing.isEmpty ? nil : missing
        case .up(_, .notReady(let words)): return words
        case .up(let life, _):
            return lives[life]?.liveness?.lastFailure.map { "its liveness probe failed: \($0)" }
        case .stopping(_, let stop): return narrator.words(stop.cause)
        case .backingOff: return past.lastFailure
        case .abandoned: return "it outlived SIGKILL"
        case .ended(let reason): return reason.words
        }
    }

    private func blockersView(_ id: ServiceID) -> JSONValue? {
        let blockers = machine.blockers(of: id)
        guard !blockers.isEmpty else { return nil }
        return .array(
            blockers.map { blocker in
                .object([
                    "need": .string(machine.spec(of: blocker.service).name.text),
                    "condition": .string("\(blocker.need.condition)"),
                    "state": .string(blocker.2.word),
                ])
            })
    }

    /// What a stop waits for, and when its next rung comes.
    private func stopView(
        _ id: ServiceID, _ state: ServiceState, _ live: LiveService?
    ) -> JSONValue? {
        guard case .stopping(let life, let stop) = state else { return nil }
        var members: [JSONObject.Member] = [
            .init(key: "rung", value: .string(stop.rung.word)),
            .init(key: "cause", value: .string(narrator.words(stop.cause))),
        ]
        let holders = machine.holders(of: id).map {
            JSONValue.string(machine.spec(of: $0).name.text)
        }
        if !holders.isEmpty { members.append(.init(key: "waitsFor", value: .array(holders))) }
        if let next = timers.remaining(.rung(life)) {
            members.append(.init(key: "nextRungIn", value: .number(next / .seconds(1))))
        }
        if let kill = timers.remaining(.kill(life)) {
            members.append(.init(key: "killIn", value: .number(kill / .seconds(1))))
        }
        return .object(JSONObject(members))
    }
}

extension Int64 {
    /// Nanoseconds as seconds.
    fileprivate var seconds: Double { Double(self) / 1e9 }
}

extension LifecycleMachine.Phase {
    var word: String {
        switch self {
        case .idle: "idle"
        case .comingUp: "starting"
        case .settled: "up"
        case .stopping: "stopping"
        case .ended: "ended"
        }
    }
}

extension ServiceSpec.Kind {
    var word: String {
        switch self {
        case .service: "service"
        case .oneshot: "oneshot"
        }
    }
}

extension ServiceState {
    /// One word for the state, as the documentation uses it.
    var word: String {
        switch self {
        case .waiting: "waiting"
        case .starting: "starting"
        case .up(_, .completed): "completed"
        case .up: "up"
        case .stopping: "stopping"
        case .backingOff: "backingOff"
        case .abandoned: "abandoned"
        case .ended(let reason): reason.word
        }
    }

    var healthWord: String? {
        switch self {
        case .up(_, .ready): "ready"
        case .up(_, .notReady): "notReady"
        case .up(_, .completed), .waiting, .starting, .stopping, .backingOff, .abandoned, .ended:
            nil
        }
    }

    /// How a need that is not met keeps others waiting: "is starting", "was stopped by uid 1000".
    var blockingWords: String {
        switch self {
        case .waiting: "is waiting itself"
        case .starting: "is starting"
        case .up(_, .notReady(let words)): "is not ready: \(words)"
        case .up: "is up"
        case .stopping: "is stopping"
        case .backingOff: "failed and starts again after its delay"
        case .abandoned: "outlived SIGKILL"
        case .ended(let reason): reason.words
        }
    }
}

extension EndReason {
    var word: String {
        switch self {
        case .neverStarted: "notStarted"
        case .held, .stopped: "stopped"
        case .completed: "completed"
        case .exited: "exited"
        case .failed: "failed"
        case .gaveUp: "gaveUp"
        }
    }
}

extension StopRung {
    var word: String {
        switch self {
        case .queued: "queued"
        case .awaitingLaunch: "awaitingLaunch"
        case .messageSent(_, answered: false): "messageSent"
        case .messageSent(_, answered: true): "messageAnswered"
        case .acted: "signalSent"
        case .cleaning: "cleaning"
        case .killed: "killed"
        }
    }
}

/// The state of a service as `status` words it, from what the brain alone knows.
package struct StateSummary: Hashable, Sendable {
    /// The name of the service.
    package let name: String
    /// One word.
    package let state: String
    /// One word, where it is up.
    package let health: String?
    /// Why, where that needs saying.
    package let reason: String?

    /// The present state of a service of `machine`.
    package init(_ id: ServiceID, _ machine: LifecycleMachine) {
        let now = machine.state(of: id)
        name = machine.spec(of: id).name.text
        state = now.word
        health = now.healthWord
        reason = Self.reason(id, now, machine)
    }

    private static func reason(
        _ id: ServiceID, _ state: ServiceState, _ machine: LifecycleMachine
    ) -> String? {
        func name(_ id: ServiceID) -> String { machine.spec(of: id).name.text }
        switch state {
        case .waiting:
            return machine.blockers(of: id).map { blocker in
                "\(name(blocker.service)) \(blocker.2.blockingWords)"
            }.joined(separator: "; ")
        case .starting(_, .launching): return "its launch is not answered yet"
        case .starting(_, .probing): return "it is not ready yet"
        case .up(_, .notReady(let words)): return words
        case .up: return nil
        case .stopping(_, let stop): return Narrator(name: name).words(stop.cause)
        case .backingOff: return "it failed and starts again after its delay"
        case .abandoned: return "it outlived SIGKILL"
        case .ended(let reason): return reason.words
        }
    }
}
