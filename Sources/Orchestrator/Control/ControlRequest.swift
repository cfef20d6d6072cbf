public import Stoic

/// One request to the engine, read whole and checked for form.
public struct ControlRequest: Hashable, Sendable {
    /// `GET` or `POST`; the server refuses others itself.
    public var method: String
    /// The parts of the path, decoded: `/v1/services/db` is `["v1", "services", "db"]`.
    public var path: [String]
    /// The parameters of the query, decoded; one without `=` has an empty value. Of one given
    /// twice the last counts.
    public var query: [String: String]
    /// The body, if there is one.
    public var body: JSONValue?
    /// Who asks: a process of our user, or of root.
    public var peer: ControlPeer

    /// A request from its parts.
    public init(
        method: String, path: [String], query: [String: String] = [:], body: JSONValue? = nil,
        peer: ControlPeer
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.body = body
        self.peer = peer
    }
}

/// Answers requests. The engine is the one that does.
public protocol ControlHandler: AnyObject {
    /// Answers `request` through `exchange`, now or later, on the loop's thread. An exchange that
    /// is dropped unanswered is answered with status 500.
    func handle(_ request: ControlRequest, _ exchange: ControlExchange)
}

/// What the server has to tell beside its answers, for the record of events.
public enum ControlNotice: Hashable, Sendable, CustomStringConvertible {
    /// A process that may not talk to us tried to.
    case peerRefused(ControlPeer)
    /// The limit of connections was reached; this one was answered with status 503.
    case connectionRefused(ControlPeer, limit: Int)
    /// What came was no request that we take.
    case badRequest(ControlPeer, status: Int, reason: String)
    /// A client that reads too slowly lost this many lines; it was told in their place.
    case linesLost(ControlPeer, count: Int)
    /// A connection made no progress for this long, and was closed.
    case timedOut(ControlPeer, after: Duration)
    /// The kernel gave no connection; the next try is later.
    case cannotAccept(SystemError)
    /// The socket had been removed, and is there again.
    case socketRestored(path: String)
    /// Nobody tells us when the socket is removed; it then stays away until it is asked for.
    case cannotGuard(SystemError)
    /// The socket was removed, and cannot be made again; clients cannot reach us.
    case socketLost(ControlError)

    public var description: String {
        switch self {
        case .peerRefused(let peer):
            "refused a control connection from \(peer)"
        case .connectionRefused(let peer, let limit):
            "refused a control connection from \(peer): all \(limit) are in use"
        case .badRequest(let peer, let status, let reason):
            "refused a control request from \(peer) with status \(status): \(reason)"
        case .linesLost(let peer, let count):
            "dropped \(count) lines for \(peer), which reads too slowly"
        case .timedOut(let peer, let limit):
            "closed the control connection of \(peer): no progress for \(limit)"
        case .cannotAccept(let failure):
            "cannot accept a control connection: \(failure)"
        case .socketRestored(let path):
            "made the control socket \(path) again: it had been removed"
        case .cannotGuard(let failure):
            "cannot notice when the control socket is removed: \(failure)"
        case .socketLost(let error):
            "lost the control socket: \(error)"
        }
    }
}

/// Why the control socket cannot be served. The message names the path.
public enum ControlError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path does not fit into a socket address.
    case pathTooLong(path: String, bytes: Int, limit: Int)
    /// Something that is no socket has the name. It is left alone.
    case occupiedByFile(path: String)
    /// Somebody answers there: not us, and maybe of this project. It is left alone.
    case occupiedByListener(path: String, ControlPeer?)
    /// The directory it belongs into cannot be made.
    case noDirectory(path: String, ProjectError)
    /// A system call failed.
    case system(path: String, SystemError)

    public var description: String {
        switch self {
        case .pathTooLong(let path, let bytes, let limit):
            "cannot use the control socket \(path): its path has \(bytes) bytes and the system's "
                + "limit is \(limit) bytes; set XDG_RUNTIME_DIR to a shorter path"
        case .occupiedByFile(let path):
            "cannot make the control socket \(path): something that is no socket has that name; "
                + "remove it"
        case .occupiedByListener(let path, let peer?):
            "cannot make the control socket \(path): \(peer) listens there; stop it first"
        case .occupiedByListener(let path, nil):
            "cannot make the control socket \(path): another process listens there; stop it first"
        case .noDirectory(let path, let error):
            "cannot make the control socket \(path): \(error)"
        case .system(let path, let failure):
            "cannot make the control socket \(path): \(failure)"
        }
    }
}
