/// One service's life as data. The state says everything the rules ask about the present; the past
/// (restarts, moments) lives in ledgers that the rules see only through a few questions.
///
/// ```
///            ┌──────────── again, no delay ─────────────┐
///            ▼                                          │
///  ended → waiting → starting → up → stopping ─────────┴→ ended
///            ▲          │              ▲   │ └ again → backingOff → waiting
///            │          └──────────────┘   └ outlived SIGKILL → abandoned
///            └────────────────────────────────── again ────────────┘
/// ```
///
/// Priority of deciders, strongest first: the end of the project, `force`, a command by name, a
/// plan, the loss of a need, the restart policy. A weaker one never undoes what a stronger one set.
public enum ServiceState: Hashable, Sendable {
    /// No process; launched when the blockers are gone.
    case waiting(Blockers)
    /// A launch is on its way, or the process runs and is not ready.
    case starting(Incarnation, StartPhase)
    /// It became ready, or completed and left a tree that it may keep.
    case up(Incarnation, Health)
    /// It is to end, or what is left of it.
    case stopping(Incarnation, Stop)
    /// No process; the delay before the next launch runs.
    case backingOff
    /// It outlived SIGKILL. Its tree is still ours, and nothing is launched until that is empty.
    case abandoned(Incarnation, AfterStop)
    /// Not running.
    case ended(EndReason)
}

/// How far a start has come.
public enum StartPhase: Hashable, Sendable {
    /// The launch was asked for and not answered.
    case launching
    /// The process runs; it is not ready yet.
    case probing
}

/// How a service that is up is doing.
public enum Health: Hashable, Sendable {
    /// It can be used.
    case ready
    /// It cannot be used now, for the reason it gave.
    case notReady(String)
    /// A oneshot that completed and keeps its tree.
    case completed
}

/// Why a waiting service is not launched. Between two events it is never empty: what nothing stands
/// in the way of is launched.
public struct Blockers: Hashable, Sendable {
    /// The needs that are not met, as indices into the service's list of needs, ascending.
    public internal(set) var needs: [Int] = []

    /// Whether nothing stands in the way.
    public var isEmpty: Bool { needs.isEmpty }

    mutating func insert(_ need: Int) {
        guard !needs.contains(need) else { return }
        needs.insert(need, at: needs.firstIndex { $0 > need } ?? needs.endIndex)
    }

    mutating func remove(_ need: Int) { needs.removeAll { $0 == need } }
}

/// A stop under way.
public struct Stop: Hashable, Sendable {
    /// Why.
    public internal(set) var cause: ServiceStopCause
    /// How far it has come.
    public internal(set) var rung: StopRung
    /// Whether the main process is gone, and how it went.
    public internal(set) var main: MainProcess
    /// What follows once the tree is empty.
    public internal(set) var then: AfterStop

    /// What is known of the main process.
    public enum MainProcess: Hashable, Sendable {
        /// It is not launched yet.
        case pending
        /// It runs.
        case running
        /// It ended.
        case exited(ExitStatus)
    }
}

/// How far a stop has come.
public enum StopRung: Hashable, Sendable {
    /// Asked for, and something that must end first has not. It still is what it was.
    case queued(was: PhaseBeforeStop)
    /// The launch was not answered; the ladder begins when it is.
    case awaitingLaunch
    /// The graceful message is out (the index of its rung), answered or not.
    case messageSent(Int, answered: Bool)
    /// The signal or command of this rung is out.
    case acted(Int)
    /// The main process is gone by itself; what is left of the tree got SIGTERM.
    case cleaning
    /// SIGKILL is out.
    case killed

    /// What a service was when its stop was asked for.
    public enum PhaseBeforeStop: Hashable, Sendable {
        /// Its launch was not answered.
        case launching
        /// It was not ready.
        case probing
        /// It was up and, or not, ready.
        case up(Health)
    }
}

/// Why one service stops.
public enum ServiceStopCause: Hashable, Sendable {
    /// The project ends.
    case project
    /// Somebody asked, by name.
    case requested(String)
    /// Something it needs is to stop by this request.
    case needStops(ServiceID, String)
    /// Something it needs was lost.
    case needLost(ServiceID)
    /// Nothing wants it any more.
    case unwanted
    /// A restart, by this requester.
    case restart(String)
    /// The config changed.
    case plan
    /// It failed, or its main process ended by itself.
    case failure(ServiceFailure)
    /// Its main process ended with success, and by itself.
    case finished
    /// It completed.
    case completed
}

/// What went wrong with an incarnation.
public enum ServiceFailure: Hashable, Sendable {
    /// The program never ran.
    case cannotLaunch(LaunchFailure)
    /// It ended before it was ready.
    case endedEarly(ExitStatus)
    /// It was not ready, or a oneshot not complete, within this time.
    case notReadyInTime(Duration)
    /// It ended after it was ready.
    case crashed(ExitStatus)
    /// It was silent for longer than its watchdog allows, or asked to be treated so.
    case watchdogMissed(Duration)
    /// So many liveness probes failed in a row; the last for this reason.
    case probesFailed(String, count: Int)
    /// A oneshot ended without success.
    case unsuccessful(ExitStatus)

    /// Whether it happened before the incarnation was ready.
    public var isStartFailure: Bool {
        switch self {
        case .cannotLaunch, .endedEarly, .notReadyInTime, .unsuccessful: true
        case .crashed, .watchdogMissed, .probesFailed: false
        }
    }

    /// How the main process ended, where that is what failed.
    public var status: ExitStatus? {
        switch self {
        case .endedEarly(let status), .crashed(let status), .unsuccessful(let status): status
        case .cannotLaunch, .notReadyInTime, .watchdogMissed, .probesFailed: nil
        }
    }
}

/// What follows a stop once the tree is empty.
public enum AfterStop: Hashable, Sendable {
    /// It has ended.
    case end(EndReason)
    /// It is launched again when its blockers are gone; `delayed` while its backoff runs.
    case again(delayed: Bool)
    /// It leaves the project.
    case forget
}

/// Why a service is not running.
public enum EndReason: Hashable, Sendable {
    /// Nobody wanted it yet.
    case neverStarted
    /// It was asked to stop, by this requester. Held until somebody starts it by name.
    case held(String)
    /// It was stopped: nothing wants it, or the project ends.
    case stopped
    /// A oneshot that completed.
    case completed
    /// It ended with this status and its policy does not start it again.
    case exited(ExitStatus)
    /// It failed and its policy does not start it again.
    case failed(ServiceFailure)
    /// It failed again, and the limit of restarts is reached.
    case gaveUp(ServiceFailure, restarts: Int)

    /// Whether it counts as a failure of the project's services.
    public var isFailure: Bool {
        switch self {
        case .failed, .gaveUp: true
        case .exited(let status): !status.isSuccess
        case .neverStarted, .held, .stopped, .completed: false
        }
    }

    /// Whether somebody asked for it, or nothing ever happened.
    var isAskedFor: Bool {
        switch self {
        case .neverStarted, .held, .stopped: true
        case .completed, .exited, .failed, .gaveUp: false
        }
    }
}

extension ServiceState {
    /// The incarnation it is in, where it has one.
    public var incarnation: Incarnation? {
        switch self {
        case .starting(let life, _), .up(let life, _), .stopping(let life, _),
            .abandoned(let life, _):
            life
        case .waiting, .backingOff, .ended: nil
        }
    }

    /// Whether it stands in the way of stopping what it needs: a tree lives or a launch is on its
    /// way. An abandoned one does not: everything that could be done was.
    public var holdsItsNeeds: Bool {
        switch self {
        case .starting, .up, .stopping: true
        case .waiting, .backingOff, .abandoned, .ended: false
        }
    }

    /// Whether it waits for its turn to stop.
    package var isQueued: Bool {
        guard case .stopping(_, let stop) = self, case .queued = stop.rung else { return false }
        return true
    }

    /// What others that need it may rely on.
    package var offers: Offers {
        switch self {
        case .waiting, .backingOff, .abandoned: []
        case .starting(_, .launching): []
        case .starting(_, .probing): [.started]
        case .up(_, .ready): [.started, .ready]
        case .up(_, .notReady): [.started]
        case .up(_, .completed): [.started, .ready, .completed]
        case .stopping(_, let stop): stop.offers
        case .ended(.completed): [.started, .ready, .completed, .settled]
        case .ended(.exited(let status)) where status.isSuccess: [.completed, .settled]
        case .ended(.exited), .ended(.failed), .ended(.gaveUp): [.settled]
        case .ended(.neverStarted), .ended(.held), .ended(.stopped): [.settled]
        }
    }
}

extension Stop {
    /// While it waits for its turn a service is still of use.
    fileprivate var offers: Offers {
        guard case .queued(let was) = rung, main == .running else { return [] }
        switch was {
        case .launching: return []
        case .probing, .up(.notReady): return [.started]
        case .up(.ready): return [.started, .ready]
        case .up(.completed): return [.started, .ready, .completed]
        }
    }
}

/// What a service offers to those that need it.
package struct Offers: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    static let started = Offers(rawValue: 1)
    static let ready = Offers(rawValue: 2)
    static let completed = Offers(rawValue: 4)
    /// It ended one way or another, and nothing will change that by itself.
    static let settled = Offers(rawValue: 8)

    package func meets(_ need: Need) -> Bool {
        if !need.isRequired, contains(.settled) { return true }
        switch need.condition {
        case .started: return contains(.started)
        case .ready: return contains(.ready)
        case .completed: return contains(.completed)
        }
    }
}
