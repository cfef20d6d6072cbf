import Glibc
public import Stoic

/// Where one project keeps what it needs while it runs, and what it leaves behind.
///
/// ```
/// RUNTIME/orchestrator/ID/            0700; 0711 for root, whose services run as other users
///                         control/    0700: `socket`, mode 0600
///                         notify/     0711: one socket per incarnation, under a random name
/// STATE/orchestrator/ID/              0700: `lock`, `launches`, `incarnations`, events, `logs/`
/// ```
///
/// A directory with 0711 lets others reach what they know the name of and lists nothing. The
/// control socket sits in a directory of its own because that one has to stay closed to them.
public struct ProjectDirectories: Hashable, Sendable {
    /// The project.
    public let identity: ProjectIdentity
    /// The runtime directory of the project.
    public let runtime: String
    /// The state directory of the project.
    public let state: String
    /// Why `XDG_RUNTIME_DIR` is not used although it is set; for people.
    public let runtimeRemark: String?

    private let runtimeBase: String
    private let runtimeSteps: [GuardedDirectory.Step]
    private let user: uid_t
    private let isStateOurs: Bool

    /// The longest path of a Unix socket in bytes: `sockaddr_un` has 108, the last one is zero.
    public static let socketPathLimit = 107
    /// The length of a notify socket's name, in bytes.
    public static let notifyNameLimit = NotifySocket.nameLength

    /// The directory the control socket is in.
    public var control: String { "\(runtime)/control" }
    /// The control socket.
    public var controlSocket: String { "\(control)/socket" }
    /// The directory of the notify sockets, kept once for all of them.
    public let notify: String
    /// The file of the instance lock.
    public var lockFile: String { "\(state)/lock" }
    /// The file of the events, one JSON object a line.
    public var events: String { "\(state)/events.jsonl" }
    /// The directory of the services' logs.
    public var logs: String { "\(state)/logs" }

    /// Works out the places; touches nothing.
    ///
    /// - Parameters:
    ///   - identity: The project.
    ///   - stateDirectory: `stateDirectory` of the config, absolute, if given: used as it is.
    ///   - environment: Where `XDG_RUNTIME_DIR`, `XDG_STATE_HOME`, `HOME` and `TMPDIR` are looked
    ///     up. Relative values do not count, as their specification demands.
    ///   - user: The user that runs the engine; `nil` is the effective user of this process.
    /// - Throws: `.pathTooLong` when the control socket, or a notify socket with a name of
    ///   `notifyNameLimit` bytes, would not fit; `.noPlace` when no state directory is known.
    public init(
        _ identity: ProjectIdentity, stateDirectory: String?, environment: [String: String],
        user: UInt32? = nil
    ) throws(ProjectError) {
        self.identity = identity
        let user = user ?? geteuid()
        self.user = user
        let place = RuntimePlace(environment: environment, user: user)
        runtimeBase = place.base
        runtimeRemark = place.remark
        let mode: mode_t = user == 0 ? 0o711 : 0o700
        runtimeSteps = [
            .init(name: place.name, mode: mode), .init(name: identity.id, mode: mode),
        ]
        runtime = "\(place.base)/\(place.name)/\(identity.id)"
        notify = "\(runtime)/notify"
        if let stateDirectory {
            state = stateDirectory
            isStateOurs = false
        } else {
            state = try Self.stateDirectory(of: identity, environment: environment, user: user)
            isStateOurs = true
        }
        try checkSocketPaths()
    }

    /// Makes the state directory, where the lock lies: all that may be made before it is ours.
    public func ensureState() throws(ProjectError) { try makeState() }

    /// Makes what is missing: at the start, and again when something was removed meanwhile.
    ///
    /// - Returns: Whether a runtime directory was missing, so that sockets in it are gone too.
    /// - Throws: `.insecure` when a runtime directory is a link or not ours, `.system` otherwise.
    @discardableResult
    public func ensure() throws(ProjectError) -> Bool {
        try makeState()
        var madeOne = false
        for directory in runtimeDirectories where try directory.ensure() { madeOne = true }
        return madeOne
    }

    /// Removes the runtime directories with all that is in them, at a clean end. The state
    /// directory stays: logs and events outlive the engine.
    ///
    /// - Returns: What could not be removed.
    @discardableResult
    public func removeRuntime() -> [SystemError] {
        runtimeDirectories.flatMap { $0.remove() }
    }

    /// Removes the runtime directories that are empty: after a start that failed. What is in them
    /// is not ours, or an earlier engine's, which the next start looks at.
    func removeEmptyRuntime() {
        for directory in runtimeDirectories { _ = directory.removeIfEmpty() }
    }

    private var runtimeDirectories: [GuardedDirectory] {
        let own: [GuardedDirectory.Step] = [
            .init(name: "control", mode: 0o700), .init(name: "notify", mode: 0o711),
        ]
        return own.map {
            GuardedDirectory(base: runtimeBase, steps: runtimeSteps + [$0], owner: user)
        }
    }

    /// Before anything starts: a path that is cut short would name another project's socket.
    private func checkSocketPaths() throws(ProjectError) {
        let longest = "\(notify)/\(String(repeating: "x", count: Self.notifyNameLimit))"
        for path in [controlSocket, longest] where path.utf8.count > Self.socketPathLimit {
            throw .pathTooLong(
                path: path, bytes: path.utf8.count, limit: Self.socketPathLimit,
                advice: "set XDG_RUNTIME_DIR to a shorter path than \(runtimeBase)")
        }
    }

    private static func stateDirectory(
        of identity: ProjectIdentity, environment: [String: String], user: uid_t
    ) throws(ProjectError) -> String {
        if let home = environment.absolutePath("XDG_STATE_HOME") {
            return "\(home)/orchestrator/\(identity.id)"
        }
        if user == 0 { return "/var/lib/orchestrator/\(identity.id)" }
        guard let home = environment.absolutePath("HOME") else {
            throw .noPlace(kind: "state", variable: "XDG_STATE_HOME")
        }
        return "\(home)/.local/state/orchestrator/\(identity.id)"
    }

    /// Each missing directory on the way, outermost first. Links on the way are the user's own.
    private func makeState() throws(ProjectError) {
        for directory in [state, logs] {
            var path = ""
            for part in directory.split(separator: "/") {
                path += "/\(part)"
                // SAFETY: the path lives through both calls; `stat` fills a variable of the size it
                // expects.
                guard unsafe mkdir(path, 0o700) != 0, errno != EEXIST else { continue }
                // A parent that is not ours to write may be there all the same.
                var status = stat()
                let code = errno
                if unsafe stat(path, &status) == 0 { continue }
                throw .system(
                    doing: "make the state directory \(directory)",
                    SystemError("mkdir", path, code: code))
            }
        }
        try checkState()
    }

    private func checkState() throws(ProjectError) {
        var status = stat()
        // SAFETY: the path lives through the call, which fills a variable of the size it expects.
        guard unsafe stat(state, &status) == 0 else {
            throw .system(doing: "use the state directory \(state)", .latest("stat", state))
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw .insecure(path: state, reason: "it is no directory")
        }
        guard !isStateOurs || status.st_uid == user else {
            throw .insecure(path: state, reason: "uid \(status.st_uid) owns it, not uid \(user)")
        }
    }
}

/// The directory that runtime directories are made in.
private struct RuntimePlace {
    var base: String
    /// The name of our directory in it.
    var name = "orchestrator"
    var remark: String?

    /// `XDG_RUNTIME_DIR` if it is ours; `/run` for root; else the temporary directory, where ours
    /// carries the user's number, because all users share it.
    ///
    /// Root does not use `/run/user/0`: it vanishes with root's last login session, and a job of
    /// the system would look elsewhere.
    init(environment: [String: String], user: uid_t) {
        if let path = environment.absolutePath("XDG_RUNTIME_DIR") {
            if user == 0, path == "/run/user/0" {
                remark = "XDG_RUNTIME_DIR=\(path) lasts only as long as a login session"
            } else if let reason = Self.objection(to: path, user: user) {
                remark = "XDG_RUNTIME_DIR=\(path) is not used: \(reason)"
            } else {
                base = path
                return
            }
        }
        if user == 0, Self.objection(to: "/run", user: 0) == nil {
            base = "/run"
        } else {
            base = environment.absolutePath("TMPDIR") ?? "/tmp"
            name = "orchestrator-\(user)"
        }
    }

    private static func objection(to path: String, user: uid_t) -> String? {
        var status = Glibc.stat()
        // SAFETY: the path lives through the call, which fills a variable of the size it expects.
        guard unsafe stat(path, &status) == 0 else { return "it does not exist" }
        guard status.st_mode & S_IFMT == S_IFDIR else { return "it is no directory" }
        guard status.st_uid == user else { return "uid \(status.st_uid) owns it" }
        return nil
    }
}

extension [String: String] {
    /// The value of a variable if it is an absolute path, without slashes at its end.
    fileprivate func absolutePath(_ variable: String) -> String? {
        guard var path = self[variable], path.hasPrefix("/") else { return nil }
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }
}
