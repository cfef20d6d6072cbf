import EventLoop
import Stoic

/// Whom a stop of everything waits for, for the foreground.
public struct EngineStopProgress: Hashable, Sendable {
    /// The services whose trees are not empty yet, those whose turn it is first.
    public let services: [Service]
    /// What is left of the exitBudget.
    public let budgetLeft: Duration?
    /// Whether everything is being killed already.
    public let isForced: Bool

    /// One service that is being stopped.
    public struct Service: Hashable, Sendable {
        /// Its name.
        public let name: String
        /// Its main process, if that lives.
        public let pid: Int32?
        /// The last thing done to it, and how long ago.
        public let last: Step?
        /// What comes next, and in how long.
        public let next: Step?
    }

    /// A rung and its distance in time.
    public struct Step: Hashable, Sendable {
        /// `SIGTERM`, `SIGKILL`, `stop message`, `stop command`.
        public let what: String
        /// How far away it is.
        public let distance: Duration
    }
}

extension Engine {
    /// Whom the stop of everything waits for; `nil` while nothing is being stopped.
    public var stopProgress: EngineStopProgress? {
        guard case .stopping = machine.phase else { return nil }
        let now = loop.now.awake
        let services = machine.services.compactMap { id -> EngineStopProgress.Service? in
            guard case .stopping(let life, let stop) = machine.state(of: id) else { return nil }
            if case .queued = stop.rung { return nil }
            let live = lives[life]
            let next = timers.remaining(.kill(life)).map {
                EngineStopProgress.Step(what: "SIGKILL", distance: $0)
            }
            let last = live?.lastAct.map {
                EngineStopProgress.Step(what: $0.what, distance: now - $0.at)
            }
            return EngineStopProgress.Service(
                name: name(id), pid: stop.main == .running ? live?.tree?.mainPid : nil,
                last: last, next: next)
        }
        return EngineStopProgress(
            services: services, budgetLeft: timers.remaining(.exitBudget),
            isForced: machine.isForced)
    }
}
