internal import EventLoop
import Glibc

/// What the engine that runs a project says about itself.
public struct InstanceHolder: Hashable, Sendable {
    /// The engine's process.
    public let process: ProcessStamp
    /// Its control socket, wherever its environment put it.
    public let socket: String

    /// A holder from its parts.
    public init(process: ProcessStamp, socket: String) {
        self.process = process
        self.socket = socket
    }
}

/// The right to run a project: one engine has it, or none.
///
/// An advisory lock (`flock`) decides, never the existence of a file, so a killed engine leaves
/// nothing to clean up. The file is unlinked only by its holder, while it is held; and a lock that
/// was taken on a file that is no longer the one with the name is given back and taken again.
/// (Without that check, two engines overlap: the second locks the file the first just unlinked.)
public final class InstanceLock {
    /// The lock's file.
    public let path: String
    /// What was written for others to read.
    public let holder: InstanceHolder
    private var state: State

    private enum State {
        case held(CInt)
        case released
    }

    /// How often the lock is taken again after its file was removed meanwhile.
    static let triesLimit = 100
    /// How long a loser waits for the winner to say who it is.
    static let introductionLimit = Duration.milliseconds(300)
    /// How often it looks meanwhile, in milliseconds.
    static let introductionStep: CInt = 10

    private init(path: String, holder: InstanceHolder, descriptor: CInt) {
        self.path = path
        self.holder = holder
        state = .held(descriptor)
    }

    /// Takes the lock, or says who has it. Returns within half a second.
    ///
    /// - Parameters:
    ///   - path: The file; its directory has to exist.
    ///   - socket: Where this engine will answer; written for others to read.
    /// - Throws: `.alreadyRunning` when another process holds it, `.system` when the file cannot be
    ///   made or locked, `.lockContended` when somebody removes it all the time.
    public static func acquire(path: String, socket: String) throws(ProjectError) -> InstanceLock {
        guard let process = ProcessStamp.ofThisProcess() else {
            throw .system(
                doing: "take the lock \(path)", .latest("read", "/proc/self/stat"))
        }
        let holder = InstanceHolder(process: process, socket: socket)
        var waited = Duration.zero
        for _ in 0..<triesLimit {
            let file = try open(path)
            switch try lock(file.number, path: path) {
            case .lost:
                // The winner writes its name right after it won, so we may be a moment too early;
                // or a `status` looked at the lock just now, and nobody holds it.
                if let winner = livingHolder(file.number) {
                    throw .alreadyRunning(winner, lock: path)
                }
                guard waited < introductionLimit else { throw .alreadyRunning(nil, lock: path) }
                waited += pause()
            case .won(isNamed: false):
                continue  // Closing the descriptor gives the nameless lock back.
            case .won(isNamed: true):
                let lock = InstanceLock(path: path, holder: holder, descriptor: file.release())
                try lock.introduce()
                return lock
            }
        }
        throw .lockContended(path: path, tries: triesLimit)
    }

    /// Who holds the lock now; `nil` when nobody does. Looks without taking it.
    ///
    /// - Throws: `.alreadyRunning(nil, …)` when it is held by one that did not say who it is;
    ///   `.system` when the file exists and cannot be read.
    public static func currentHolder(of path: String) throws(ProjectError) -> InstanceHolder? {
        // SAFETY: the path is a text of ours, which lives through the call.
        let number = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if number < 0, errno == ENOENT || errno == ENOTDIR { return nil }
        guard number >= 0 else {
            throw .system(doing: "read the lock \(path)", .latest("open", path))
        }
        let file = OwnedDescriptor(owning: number)
        // A shared try fails exactly while somebody holds it; if it does not, it ends at once.
        if flock(file.number, LOCK_SH | LOCK_NB) == 0 { return nil }
        var waited = Duration.zero
        while waited < introductionLimit {
            if let holder = livingHolder(file.number) { return holder }
            waited += pause()
        }
        throw .alreadyRunning(nil, lock: path)
    }

    /// Gives the lock back and removes its file. Later calls do nothing.
    public func release() {
        switch state {
        case .released: break
        case .held(let descriptor):
            // Unlinked while held: whoever opened it before sees that its name is gone, and tries
            // again. Only our own file is removed; a name that means another one is left alone.
            // SAFETY: the path is a text of ours, which lives through the call.
            if Self.isNamed(descriptor, path: path) { unsafe unlink(path) }
            close(descriptor)
            state = .released
        }
    }

    deinit { release() }

    // MARK: - Steps

    private enum Attempt {
        /// Ours; and whether the file still has the name.
        case won(isNamed: Bool)
        case lost
    }

    private static func open(_ path: String) throws(ProjectError) -> OwnedDescriptor {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        // SAFETY: the path is a text of ours, which lives through the call.
        let number = retryingInterrupts { unsafe Glibc.open(path, flags, 0o600) }
        guard number >= 0 else {
            throw .system(doing: "open the lock \(path)", .latest("open", path))
        }
        return OwnedDescriptor(owning: number)
    }

    private static func lock(_ descriptor: CInt, path: String) throws(ProjectError) -> Attempt {
        if retryingInterrupts({ flock(descriptor, LOCK_EX | LOCK_NB) }) == 0 {
            return .won(isNamed: isNamed(descriptor, path: path))
        }
        guard errno == EWOULDBLOCK else {
            throw .system(doing: "take the lock \(path)", .latest("flock", path))
        }
        return .lost
    }

    private static func isNamed(_ descriptor: CInt, path: String) -> Bool {
        // SAFETY: the path lives through the calls, which fill variables of the size they expect.
        var held = stat()
        var named = stat()
        guard unsafe fstat(descriptor, &held) == 0, unsafe lstat(path, &named) == 0 else {
            return false
        }
        return held.st_dev == named.st_dev && held.st_ino == named.st_ino
    }

    /// One line of numbers, then the socket's path: what comes after the first newline, as it is.
    private func introduce() throws(ProjectError) {
        guard case .held(let descriptor) = state else { return }
        let process = holder.process
        let text = "\(process.pid) \(process.startTime) \(process.boot)\n\(holder.socket)"
        let content = Array(text.utf8)
        // SAFETY: the array has as many bytes as is told, and they are only read.
        let written =
            ftruncate(descriptor, 0) == 0
            ? unsafe pwrite(descriptor, content, content.count, 0) : -1
        guard written == content.count else {
            throw .system(doing: "write the lock \(path)", .latest("write", path))
        }
    }

    /// Who wrote its name, if it is alive: a killed holder's name stays until the next one writes.
    private static func livingHolder(_ descriptor: CInt) -> InstanceHolder? {
        guard let holder = readHolder(descriptor), holder.process.isAlive else { return nil }
        return holder
    }

    private static func pause() -> Duration {
        poll(nil, 0, introductionStep)
        return .milliseconds(Int(introductionStep))
    }

    private static func readHolder(_ descriptor: CInt) -> InstanceHolder? {
        guard let content = bytes(of: descriptor, atMost: 8192),
            let newline = content.firstIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        let words = content[..<newline].split(separator: UInt8(ascii: " "))
            .map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 3, let pid = Int32(words[0]), let start = UInt64(words[1]) else {
            return nil
        }
        return InstanceHolder(
            process: ProcessStamp(boot: words[2], pid: pid, startTime: start),
            socket: String(decoding: content[(newline + 1)...], as: UTF8.self))
    }
}
