public import Stoic

/// Why a project's identity, its directories, its lock or its record cannot be had. Each message
/// names the path and what to do next.
public enum ProjectError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A system call failed while doing something.
    case system(doing: String, SystemError)
    /// The name of a config cannot identify a project.
    case badName(String, reason: String)
    /// No place for a kind of directory is known; `variable` would name one.
    case noPlace(kind: String, variable: String)
    /// Something is in place of a directory of ours, and it is not safely ours.
    case insecure(path: String, reason: String)
    /// A socket below `directory` would have a longer path than the kernel's `limit` in bytes.
    case pathTooLong(path: String, bytes: Int, limit: Int, advice: String)
    /// Another engine runs this project. `holder` is what it said about itself, if it did.
    case alreadyRunning(InstanceHolder?, lock: String)
    /// The lock was taken and lost `tries` times in a row: somebody removes it all the time.
    case lockContended(path: String, tries: Int)

    public var description: String {
        switch self {
        case .system(let doing, let failure):
            "cannot \(doing): \(failure)"
        case .badName(let name, let reason):
            "cannot identify a project by \"\(name)\": \(reason)"
        case .noPlace(let kind, let variable):
            "cannot find a place for the \(kind) directory: set \(variable) to an absolute path"
        case .insecure(let path, let reason):
            "cannot use \(path): \(reason); remove it, or choose another place"
        case .pathTooLong(let path, let bytes, let limit, let advice):
            "cannot use the socket path \(path): it has \(bytes) bytes and the system's limit is "
                + "\(limit) bytes; \(advice)"
        case .alreadyRunning(let holder?, let lock):
            "cannot start: this project is already run by process \(holder.process.pid) "
                + "(lock \(lock))"
        case .alreadyRunning(nil, let lock):
            "cannot start: another process holds the lock \(lock)"
        case .lockContended(let path, let tries):
            "cannot take the lock \(path): it was removed \(tries) times while we took it; "
                + "find out what removes it"
        }
    }
}
