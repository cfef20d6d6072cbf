import Glibc

/// A program that was run to its end.
struct Program {
    /// Its exit code; minus the signal that killed it.
    let code: Int32
    /// What it wrote to both of its outputs.
    let output: String

    struct Failure: Error {
        let what: String
        let number: Int32
    }

    /// How long a program may be silent before it is killed. A busy machine is no fault.
    private static let limit: Int32 = 120_000

    /// Runs `command`, looked for in `PATH`, and waits for its end.
    static func run(_ command: [String], environment: [String: String] = [:]) throws -> Program {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw Failure(what: "pipe", number: errno) }
        defer { close(ends[0]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for target in [1 as Int32, 2] {
            unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], target)
        }
        // `env` sets what is to differ and leaves the rest as it is.
        let settings = environment.map { "\($0.key)=\($0.value)" }
        let words = settings.isEmpty ? command : ["env"] + settings + command
        var pointers = unsafe words.map { unsafe strdup($0) }
        unsafe pointers.append(nil)
        defer { unsafe pointers.forEach { unsafe free($0) } }
        var child = pid_t()
        let result = unsafe posix_spawnp(&child, words[0], &actions, nil, pointers, environ)
        close(ends[1])
        guard result == 0 else { throw Failure(what: words[0], number: result) }
        let output = readAll(ends[0]) { kill(child, SIGKILL) }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { throw Failure(what: "waitpid", number: errno) }
        }
        let code = status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
        return Program(code: code, output: String(decoding: output, as: UTF8.self))
    }

    private static func readAll(_ descriptor: Int32, _ giveUp: () -> Void) -> [UInt8] {
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&entry, 1, limit) > 0 else {
                giveUp()
                return output
            }
            let count = unsafe read(descriptor, &chunk, chunk.count)
            guard count > 0 else { return output }
            output += chunk[..<count]
        }
    }
}

/// What was built together with these tests.
enum Built {
    /// The folder of the test bundle, which is that of all programs.
    static let programs: String = {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
        return path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
    }()

    /// Where the compiler finds the modules.
    static let modules = programs + "/Modules"
}

/// The checkout these tests were built from.
enum Checkout {
    /// The folder with `Package.swift`.
    static let root: String = {
        let parts = #filePath.split(separator: "/").dropLast(3)
        return parts.reduce("") { $0 + "/" + $1 }
    }()

    /// The text of a file under `root`.
    static func read(_ path: String) throws -> String {
        let descriptor = unsafe open(root + "/" + path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Program.Failure(what: path, number: errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            guard count >= 0 else { throw Program.Failure(what: path, number: errno) }
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk[..<count]
        }
    }

    /// The names in a folder under `root`, sorted.
    static func list(_ path: String) throws -> [String] {
        guard let stream = unsafe opendir(root + "/" + path) else {
            throw Program.Failure(what: path, number: errno)
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(cString: $0)
                }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}
