import Glibc

/// Directories of the tests under the temporary directory, with short names: a socket's path has
/// 107 bytes.
enum Scratch {
    /// With `ORCHESTRATOR_KEEP_SCRATCH` set, the directory of a case that failed stays.
    static let isKept = unsafe getenv("ORCHESTRATOR_KEEP_SCRATCH") != nil

    /// A new directory that belongs to `owner`.
    static func make(owner: Identity, prefix: String = "oe-") throws -> String {
        var template = Array("/tmp/\(prefix)XXXXXX".utf8CString)
        let made = unsafe template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            return unsafe mkdtemp(start) != nil
        }
        guard made else { throw BenchError("cannot make a directory: error \(errno)") }
        let path = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try give(path, to: owner)
        return path
    }

    /// A folder in it, with the same owner.
    static func makeFolder(_ path: String, owner: Identity) throws {
        guard unsafe mkdir(path, 0o700) == 0 else {
            throw BenchError("cannot make \(path): error \(errno)")
        }
        try give(path, to: owner)
    }

    /// Hands a file or directory to `owner`.
    static func give(_ path: String, to owner: Identity) throws {
        guard let user = owner.user, let group = owner.group else { return }
        guard unsafe chown(path, uid_t(user), gid_t(group)) == 0 else {
            throw BenchError("cannot give \(path) away: error \(errno)")
        }
    }

    /// Removes a directory and what is in it. Links are removed, not followed.
    static func remove(_ path: String) {
        if TextFile.kind(path) == S_IFDIR {
            for name in TextFile.names(in: path) { remove(path + "/" + name) }
            unsafe rmdir(path)
        } else {
            unsafe unlink(path)
        }
    }

    /// Everything under a directory that is not a directory.
    static func files(under path: String) -> [String] {
        TextFile.names(in: path).flatMap { name -> [String] in
            let child = path + "/" + name
            return TextFile.kind(child) == S_IFDIR ? files(under: child) : [child]
        }
    }

    /// Locks and sockets under a directory.
    static func locks(under path: String) -> [String] {
        files(under: path).filter {
            $0.hasSuffix("lock") || TextFile.kind($0) == S_IFSOCK
        }
    }
}
