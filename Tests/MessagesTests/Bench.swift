import CProcess
import EventLoop
import Glibc
import Testing

@testable import Orchestrator

/// A loop on the thread of one test, with a directory of its own.
final class Bench {
    let loop: Loop
    let timers: TimerTable
    let directory: String
    var messages: [ServiceMessage] = []
    private var condition: (() -> Bool)?

    init() throws {
        loop = try Loop()
        timers = try TimerTable(loop)
        var name = Array("/tmp/messages-XXXXXX".utf8CString)
        let made = unsafe mkdtemp(&name)
        directory = try unsafe String(cString: #require(unsafe made))
        unsafe chmod(directory, 0o711)
        loop.onTurnEnd { [weak self] in
            guard let self, let condition, condition() else { return }
            loop.stop()
        }
    }

    /// Turns the loop until `condition` holds at the end of a turn, at most `limit`.
    @discardableResult
    func run(within limit: Duration = .seconds(5), until condition: @escaping () -> Bool) throws
        -> Bool
    {
        if condition() { return true }
        self.condition = condition
        let end = timers.after(limit) { [weak self] in self?.loop.stop() }
        try loop.run()
        timers.cancel(end)
        self.condition = nil
        return condition()
    }

    /// A socket whose messages are collected.
    func socket(
        owner: uid_t = geteuid(), isMember: @escaping (pid_t) -> Bool = { $0 == getpid() }
    ) throws -> NotifySocket {
        try NotifySocket(loop, directory: directory, owner: owner, isMember: isMember) {
            [weak self] in self?.messages.append($0)
        }
    }

    /// The reasons of the refusals so far.
    var refusals: [String] {
        messages.compactMap {
            if case .refused(let reason, _, _) = $0 { return reason }
            return nil
        }
    }

    func close() {
        timers.close()
        loop.close()
        unsafe rmdir(directory)
    }
}

/// The files, pipes and sockets this process has open, each as its number and what it is. Leaves
/// out timers and the like: the test library's own threads open some when they please.
func openDescriptors() -> Set<String> {
    guard let listing = unsafe opendir("/proc/self/fd") else { return [] }
    defer { unsafe closedir(listing) }
    let own = String(unsafe dirfd(listing))
    var found: Set<String> = []
    while let entry = unsafe readdir(listing) {
        let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        guard name != own, let target = linkTarget("/proc/self/fd/" + name) else { continue }
        if !target.hasPrefix("anon_inode:") { found.insert("\(name) \(target)") }
    }
    return found
}

private func linkTarget(_ path: String) -> String? {
    var buffer = [CChar](repeating: 0, count: 256)
    let length = unsafe readlink(path, &buffer, buffer.count)
    guard length > 0 else { return nil }
    return String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Whether every descriptor that is open was so before, within a second: other threads of a test
/// process open some for a moment.
func noneIsLeft(since before: Set<String>) -> Bool {
    for _ in 0..<100 {
        if openDescriptors().isSubset(of: before) { return true }
        _ = poll(nil, 0, 10)
    }
    return false
}

/// A child of this process. Only for exit tests: it leaves a zombie until `wait`.
struct Child {
    let pid: pid_t

    /// Starts `arguments` with exactly `environment`; the descriptors in `given` keep their number.
    init(_ arguments: [String], environment: [String], given: [CInt] = []) throws {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for descriptor in given {
            // Onto itself: the only effect is that close-on-exec goes.
            unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor)
        }
        var texts: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) }
        var variables: [UnsafeMutablePointer<CChar>?] = unsafe environment.map {
            unsafe strdup($0)
        }
        unsafe texts.append(nil)
        unsafe variables.append(nil)
        var number: pid_t = 0
        let failure = unsafe posix_spawnp(
            &number, arguments[0], &actions, nil, texts, variables)
        for index in unsafe texts.indices { unsafe free(texts[index]) }
        for index in unsafe variables.indices { unsafe free(variables[index]) }
        try #require(failure == 0, "cannot start \(arguments)")
        pid = number
    }

    /// Waits for its end, at most `limit` seconds.
    /// - Returns: Its exit code, or `nil` if it did not exit.
    func wait(limit: Int32 = 10) -> Int32? {
        let end = cproc_pidfd_open(pid)
        defer { close(end) }
        var entry = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, limit * 1000) == 1 else { return nil }
        var status: Int32 = 0
        guard unsafe waitpid(pid, &status, 0) == pid, status & 0x7F == 0 else { return nil }
        return (status >> 8) & 0xFF
    }
}
