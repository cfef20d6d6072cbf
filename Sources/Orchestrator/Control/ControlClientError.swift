public import Stoic

/// Why a command got no answer from an engine. The first three are what a user meets; each message
/// says what to do next.
public enum ControlClientError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No engine answers there: none was started, or it was killed.
    case nothingRuns(path: String)
    /// The engine, or the system, does not let us talk to it.
    case notPermitted(path: String)
    /// Something has the path that is no engine of ours.
    case foreign(path: String, reason: String)
    /// The path does not fit into a socket address.
    case pathTooLong(path: String, bytes: Int, limit: Int)
    /// A step took longer than its limit.
    case timedOut(waitingFor: String, after: Duration)
    /// The engine ended, or hung up, before its answer was complete.
    case disconnected(path: String)
    /// The descriptor that was to interrupt us became readable.
    case interrupted
    /// A system call failed.
    case system(SystemError)

    public var description: String {
        switch self {
        case .nothingRuns(let path):
            "nothing runs here (no engine answers at \(path)); start it with `up`"
        case .notPermitted(let path):
            "cannot control the engine at \(path): only its user and root may"
        case .foreign(let path, let reason):
            "cannot use \(path): \(reason)"
        case .pathTooLong(let path, let bytes, let limit):
            "cannot use the control socket \(path): its path has \(bytes) bytes and the system's "
                + "limit is \(limit) bytes; set XDG_RUNTIME_DIR to a shorter path"
        case .timedOut(let step, let limit):
            "the engine did not answer: waited \(limit) for \(step)"
        case .disconnected(let path):
            "the engine at \(path) hung up before its answer was complete; it may have ended"
        case .interrupted: "interrupted"
        case .system(let failure): "cannot talk to the engine: \(failure)"
        }
    }
}

/// The answer to a request.
public struct ControlResponse: Hashable, Sendable {
    /// The HTTP status.
    public var status: Int
    /// The body; of a stream, its last line. `nil` for none.
    public var body: JSONValue?

    /// A response from its parts.
    public init(status: Int, body: JSONValue?) {
        self.status = status
        self.body = body
    }

    /// Whether the request was done, or its stream was opened.
    public var isSuccess: Bool { (200..<300).contains(status) }

    /// What went wrong, if the body says so: a word for programs and a sentence for people.
    public var failure: (code: String, message: String)? {
        guard let error = body?["error"] else { return nil }
        return (error["code"]?.string ?? "unknown", error["message"]?.string ?? "\(error)")
    }
}
