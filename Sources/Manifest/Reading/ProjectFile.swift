import Glibc

/// The names a project's config may have, best first.
public let projectFileNames = ["orchestrator.yaml", "orchestrator.yml", "orchestrator.json"]

/// The config nearest to `directory`: in it, or else in the first directory above that has one.
/// - Parameter directory: Absolute; it need not exist.
/// - Returns: An absolute path, or `nil` when no directory up to the root has a config.
public func findProjectFile(from directory: String) -> String? {
    var current = directory
    while true {
        for name in projectFileNames {
            let candidate = current == "/" ? "/\(name)" : "\(current)/\(name)"
            // SAFETY: the path is a text of ours, which lives through the call.
            if unsafe access(candidate, F_OK) == 0 { return candidate }
        }
        guard let parent = parentDirectory(of: current) else { return nil }
        current = parent
    }
}

/// The directory above `path`, by its text alone; `nil` for the root and for a bare name.
func parentDirectory(of path: String) -> String? {
    var bytes = Substring(path)
    while bytes.count > 1 && bytes.hasSuffix("/") { bytes.removeLast() }
    guard bytes != "/", let slash = bytes.lastIndex(of: "/") else { return nil }
    let parent = bytes[..<slash]
    return parent.isEmpty ? "/" : String(parent)
}

/// `path` as an absolute path that starts from `directory`: empty and `.` parts are left out, `..`
/// stays, because what is above a link is for the system to say.
func absolutePath(_ path: String, from directory: String) -> String {
    let whole = path.hasPrefix("/") ? path : "\(directory)/\(path)"
    let parts = whole.split(separator: "/").filter { $0 != "." }
    return "/" + parts.joined(separator: "/")
}

/// The directory we are in.
func currentDirectory() -> String {
    // SAFETY: the text is allocated for us, copied, and freed once.
    guard let buffer = unsafe getcwd(nil, 0) else { return "/" }
    defer { unsafe free(buffer) }
    return unsafe String(cString: buffer)
}
