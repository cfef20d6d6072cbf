import Glibc
import Testing

/// One of the programs under `Tests/Fixtures/graceful`, running.
final class GracefulProgram {
    /// From which kind of `main` the graph is run.
    enum Main: String, CaseIterable, CustomTestStringConvertible {
        case async, toplevel, sync
        var testDescription: String { rawValue }
    }

    private let pid: pid_t
    private let output: Int32
    private var buffered: [UInt8] = []
    /// What it wrote so far, line by line.
    private(set) var lines: [String] = []
    private static let limit: Int32 = 30_000

    /// Starts the program; both of its outputs come through one pipe.
    /// - Parameter blocked: Whether it begins with every signal blocked, as what a worker thread
    ///   starts does.
    init(
        _ main: Main, _ mode: String, ignoring signal: Int32? = nil, blocked: Bool = false
    ) throws {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw Failure(what: "pipe", number: errno) }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for target in [1 as Int32, 2] {
            unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], target)
        }
        unsafe posix_spawn_file_actions_addclose(&actions, ends[1])
        let program = Self.built + "/graceful-" + main.rawValue
        // `trap '' N` is how a shell ignores a signal for what it starts.
        let arguments =
            signal.map { ["/bin/sh", "-c", "trap '' \($0); exec \(program) \(mode)"] }
            ?? [program, mode]
        var child = pid_t()
        let result = unsafe Self.spawn(arguments, &actions, blocked, &child)
        Glibc.close(ends[1])
        guard result == 0 else { throw Failure(what: program, number: result) }
        pid = child
        output = ends[0]
    }

    deinit { Glibc.close(output) }

    struct Failure: Error {
        let what: String
        let number: Int32
    }

    private static func spawn(
        _ arguments: [String], _ actions: UnsafePointer<posix_spawn_file_actions_t>,
        _ blocked: Bool, _ child: inout pid_t
    ) -> Int32 {
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var mask = sigset_t()
        _ = blocked ? unsafe sigfillset(&mask) : unsafe sigemptyset(&mask)
        unsafe posix_spawnattr_setsigmask(&attributes, &mask)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var pointers = unsafe arguments.map { unsafe strdup($0) }
        unsafe pointers.append(nil)
        defer { unsafe pointers.forEach { unsafe free($0) } }
        return unsafe posix_spawn(
            &child, arguments[0], actions, &attributes, pointers, environ)
    }

    /// The directory of the build: that of the test bundle.
    private static let built: String = {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
        return path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
    }()

    func signal(_ number: Int32) { kill(pid, number) }

    /// Reads until a line is `expected`; `false` if the program ends first.
    func wait(for expected: String) throws -> Bool {
        while !lines.contains(expected) {
            guard try readMore() else { return false }
        }
        return true
    }

    /// Reads to the end, and gives back how the program ended: its code, or minus its signal.
    func end() throws -> Int32 {
        while try readMore() {}
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else { throw Failure(what: "waitpid", number: errno) }
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }

    private func readMore() throws -> Bool {
        var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, Self.limit) > 0 else {
            kill(pid, SIGKILL)
            throw Failure(what: "silent for \(Self.limit) ms after \(lines)", number: ETIMEDOUT)
        }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe read(output, &bytes, bytes.count)
        guard count > 0 else { return false }
        buffered += bytes.prefix(count)
        while let newline = buffered.firstIndex(of: 10) {
            lines.append(String(decoding: buffered[..<newline], as: UTF8.self))
            buffered.removeSubrange(...newline)
        }
        return true
    }
}
