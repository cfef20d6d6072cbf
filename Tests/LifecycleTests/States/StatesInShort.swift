@testable import Stoic

extension ServiceState {
    /// A word or two.
    var inShort: String {
        switch self {
        case .waiting: "waiting"
        case .starting(_, let phase): "\(phase)"
        case .up(_, .ready): "up"
        case .up(_, .notReady): "notReady"
        case .up(_, .completed): "completed"
        case .stopping(_, let stop): "\(stop.rung.inShort),\(stop.then.inShort)"
        case .backingOff: "backingOff"
        case .abandoned(_, let next): "abandoned,\(next.inShort)"
        case .ended(let reason): reason.inShort
        }
    }
}

extension StopRung {
    fileprivate var inShort: String {
        switch self {
        case .queued: "queued"
        case .awaitingLaunch: "awaitingLaunch"
        case .messageSent(_, let answered): answered ? "answered" : "messageSent"
        case .acted: "acted"
        case .cleaning: "cleaning"
        case .killed: "killed"
        }
    }
}

extension AfterStop {
    fileprivate var inShort: String {
        switch self {
        case .end(let reason): reason.inShort
        case .again(delayed: true): "later"
        case .again(delayed: false): "again"
        case .forget: "forget"
        }
    }
}

extension EndReason {
    fileprivate var inShort: String {
        switch self {
        case .neverStarted: "neverStarted"
        case .held: "held"
        case .stopped: "stopped"
        case .completed: "completed"
        case .exited: "exited"
        case .failed: "failed"
        case .gaveUp: "gaveUp"
        }
    }
}
