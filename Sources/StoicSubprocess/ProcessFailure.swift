public import Stoic

/// Why a program is not, or not any more, a running service.
///
/// New cases may be added; a `switch` over it needs a default.
public enum ProcessFailure: Error, Hashable, Sendable {
    /// It never ran; the words complete "cannot …".
    case cannotLaunch(service: String, String)
    /// It ended before it said that it can be used.
    case endedBeforeReady(service: String, ExitStatus)
    /// It ended, and nobody had asked it to.
    case ended(service: String, ExitStatus)
    /// Processes of it outlived SIGKILL. They are still watched.
    case outlived(service: String, [Int32])
    /// Processes cannot be watched here; the words say why.
    case cannotWatch(String)
}

extension ProcessFailure: CustomStringConvertible {
    /// What happened, with the service and the way it ended.
    public var description: String {
        switch self {
        case .cannotLaunch(let service, let words): "\(service): cannot \(words)"
        case .endedBeforeReady(let service, let status):
            "\(service) ended before it was ready: \(status.words)"
        case .ended(let service, let status): "\(service) ended: \(status.words)"
        case .outlived(let service, let pids):
            "cannot stop \(service): pids \(pids.map(String.init).joined(separator: ", ")) "
                + "outlived SIGKILL"
        case .cannotWatch(let words): "cannot watch processes here: \(words)"
        }
    }
}

extension ProcessFailure: Reportable {
    /// `process.ended` and the like: a word for each case.
    public var reportCode: String {
        switch self {
        case .cannotLaunch: "process.cannotLaunch"
        case .endedBeforeReady: "process.endedBeforeReady"
        case .ended: "process.ended"
        case .outlived: "process.outlived"
        case .cannotWatch: "process.cannotWatch"
        }
    }

    /// What happened.
    public var reportCause: String { description }

    /// What to look at.
    public var reportAdvice: String? {
        switch self {
        case .cannotLaunch: "look at its path and its permissions"
        case .endedBeforeReady, .ended: "look at its last lines of output"
        case .outlived: "look at what they wait for: /proc/PID/stack"
        case .cannotWatch: nil
        }
    }
}

extension ExitStatus {
    /// How it ended, for people.
    var words: String {
        switch self {
        case .code(let code): "exit code \(code)"
        case .signal(let number, let coreDumped):
            "signal \(number)" + (coreDumped ? ", core dumped" : "")
        case .unknown: "nobody knows how"
        }
    }
}
