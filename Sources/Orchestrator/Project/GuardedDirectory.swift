internal import EventLoop
import Glibc
import Stoic

/// A chain of directories below a base that only we may write: made where missing, entered step by
/// step without following a link, each checked to be ours. Nobody can swap a step under us, because
/// each is opened relative to the one before.
struct GuardedDirectory {
    /// Where the chain starts; it has to exist and is taken as the user named it, links included.
    let base: String
    /// The directories below it, outermost first, each with its permissions.
    let steps: [Step]
    /// Who has to own them.
    let owner: uid_t

    /// One directory of the chain.
    struct Step: Hashable, Sendable {
        /// Its name in the one before.
        let name: String
        /// Its permissions, set when they differ.
        let mode: mode_t
    }

    /// The path of the whole chain.
    var path: String { steps.reduce(base) { "\($0)/\($1.name)" } }

    /// How often the chain is begun again when somebody removes a step while we make the next: an
    /// engine of another project that ends removes the parents it leaves empty.
    private static let triesLimit = 5

    /// Makes what is missing.
    ///
    /// - Returns: Whether something was missing.
    /// - Throws: `.insecure` when a step is a link, no directory, or not ours; `.system` otherwise.
    func ensure() throws(ProjectError) -> Bool {
        for _ in 1..<Self.triesLimit {
            do { return try makeSteps() } catch .system(_, let failure) where failure.code == ENOENT
            {
                continue
            }
        }
        return try makeSteps()
    }

    private func makeSteps() throws(ProjectError) -> Bool {
        var current = try openBase()
        var path = base
        var madeOne = false
        for step in steps {
            path += "/\(step.name)"
            // SAFETY: the name is a text of ours, which lives through the call.
            let made = unsafe mkdirat(current.number, step.name, step.mode)
            guard made == 0 || errno == EEXIST else {
                throw .system(doing: "make the directory \(path)", .latest("mkdir", path))
            }
            madeOne = madeOne || made == 0
            current = try enter(step, in: current.number, path: path)
        }
        return madeOne
    }

    private func openBase() throws(ProjectError) -> OwnedDescriptor {
        // SAFETY: the path lives through its call; `fstat` fills a variable of the size it expects.
        let number = unsafe open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else {
            throw .system(doing: "use the directory \(base)", .latest("open", base))
        }
        let directory = OwnedDescriptor(owning: number)
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else {
            throw .system(doing: "use the directory \(base)", .latest("stat", base))
        }
        // Where everybody may rename everything, no check of ours would hold for long.
        if status.st_mode & S_IWOTH != 0, status.st_mode & mode_t(S_ISVTX) == 0 {
            throw .insecure(path: base, reason: "everybody may write there and it is not sticky")
        }
        return directory
    }

    private func enter(
        _ step: Step, in parent: CInt, path: String
    ) throws(ProjectError) -> OwnedDescriptor {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        // SAFETY: the name lives through its call; `fstat` fills a variable of the size it expects.
        let number = unsafe openat(parent, step.name, flags)
        guard number >= 0 else {
            if errno == ELOOP || errno == ENOTDIR {
                throw .insecure(path: path, reason: "it is no directory, or a link to one")
            }
            throw .system(doing: "open the directory \(path)", .latest("open", path))
        }
        let directory = OwnedDescriptor(owning: number)
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else {
            throw .system(doing: "check the directory \(path)", .latest("stat", path))
        }
        guard status.st_uid == owner else {
            throw .insecure(path: path, reason: "uid \(status.st_uid) owns it, not uid \(owner)")
        }
        if status.st_mode & 0o7777 != step.mode, fchmod(number, step.mode) != 0 {
            throw .system(doing: "protect the directory \(path)", .latest("chmod", path))
        }
        return directory
    }

    /// Removes every file in the innermost directory, then each directory that is empty, inside
    /// out. What another project still uses stays.
    ///
    /// - Returns: What could not be removed although nobody else needs it.
    func remove() -> [SystemError] { removeFiles() + removeIfEmpty() }

    /// Removes each directory that is empty, inside out, and no file.
    ///
    /// - Returns: What could not be removed although nobody else needs it.
    func removeIfEmpty() -> [SystemError] {
        var failures: [SystemError] = []
        var rest = steps
        while let last = rest.popLast() {
            let parent = rest.reduce(base) { "\($0)/\($1.name)" }
            let path = "\(parent)/\(last.name)"
            // SAFETY: the path is a text of ours, which lives through the call.
            if unsafe rmdir(path) == 0 || errno == ENOENT { continue }
            if errno == ENOTEMPTY || errno == EEXIST { break }
            // A parent that somebody else made (a manager's runtime directory) may have to stay.
            if rest.count > 1 { failures.append(.latest("rmdir", path)) }
            break
        }
        return failures
    }

    private func removeFiles() -> [SystemError] {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        // SAFETY: the stream takes over the descriptor and is closed once; an entry lives until the
        // next is read, and its name, which ends with a zero, is copied before.
        let number = unsafe open(path, flags)
        guard number >= 0 else { return errno == ENOENT ? [] : [.latest("open", path)] }
        guard let stream = unsafe fdopendir(number) else {
            close(number)
            return [.latest("opendir", path)]
        }
        defer { unsafe closedir(stream) }
        var failures = [SystemError]()
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(cString: $0)
                }
            }
            if name == "." || name == ".." { continue }
            if unsafe unlinkat(number, name, 0) != 0, errno != ENOENT {
                failures.append(.latest("unlink", "\(path)/\(name)"))
            }
        }
        return failures
    }
}
