import CBench
import Glibc

/// What the kernel says about a process.
struct ProcessRow {
    let pid: pid_t
    let name: String
    /// `R`, `S`, `T`, `Z`, …
    let state: Character
    let parent: pid_t
    let group: pid_t
    /// Ticks since boot.
    let begun: UInt64
    /// User and system time in ticks.
    let ticks: UInt64
}

enum ProcessTable {
    /// The row of one process.
    static func row(_ pid: pid_t) -> ProcessRow? {
        guard let text = TextFile.read("/proc/\(pid)/stat"),
            let open = text.firstIndex(of: "("), let end = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 19, let state = fields[0].first, let parent = pid_t(fields[1]),
            let group = pid_t(fields[2]), let user = UInt64(fields[11]),
            let system = UInt64(fields[12]), let begun = UInt64(fields[19])
        else { return nil }
        return ProcessRow(
            pid: pid, name: String(text[text.index(after: open)..<end]), state: state,
            parent: parent, group: group, begun: begun, ticks: user + system)
    }

    /// Every process there is.
    static var all: [ProcessRow] {
        TextFile.names(in: "/proc").compactMap { pid_t($0) }.compactMap(row)
    }

    /// The children of a process, whichever of its threads made them.
    static func children(of pid: pid_t) -> [ProcessRow] { all.filter { $0.parent == pid } }

    /// The processes that work in a directory or below it.
    static func inside(_ directory: String) -> [ProcessRow] {
        all.filter { row in
            guard let place = TextFile.link("/proc/\(row.pid)/cwd") else { return false }
            return place == directory || place.hasPrefix(directory + "/")
        }
    }

    /// How many descriptors a process holds.
    static func descriptorCount(of pid: pid_t) -> Int {
        TextFile.names(in: "/proc/\(pid)/fd").count
    }

    /// What the descriptors of a process are, by number.
    static func descriptors(of pid: pid_t) -> [Int: String] {
        var targets: [Int: String] = [:]
        for name in TextFile.names(in: "/proc/\(pid)/fd") {
            guard let number = Int(name) else { continue }
            targets[number] = TextFile.link("/proc/\(pid)/fd/\(name)")
        }
        return targets
    }

    /// Kilobytes of memory that are its own and in use.
    static func residentKilobytes(of pid: pid_t) -> Int {
        let status = TextFile.read("/proc/\(pid)/status") ?? ""
        for line in status.split(separator: "\n") where line.hasPrefix("RssAnon:") {
            return Int(line.split(separator: " ").dropLast().last ?? "") ?? 0
        }
        return 0
    }

    /// SIGKILL to exactly the process that began then.
    static func kill(_ pid: pid_t, begun: UInt64) { signal(pid, begun: begun, SIGKILL) }

    /// A signal to exactly the process that began then.
    static func signal(_ pid: pid_t, begun: UInt64, _ number: CInt) {
        let descriptor = cbench_pidfd(pid)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        if row(pid)?.begun == begun { cbench_signal(descriptor, number) }
    }
}

enum TextFile {
    /// The bytes of a file, or `nil`.
    static func bytes(_ path: String) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
        }
    }

    /// The text of a file, or `nil`.
    static func read(_ path: String) -> String? {
        bytes(path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Writes a file whole.
    static func write(_ text: String, to path: String, mode: mode_t = 0o666) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw BenchError("cannot write \(path): error \(errno)") }
        defer { close(descriptor) }
        fchmod(descriptor, mode)
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            guard count > 0 else { throw BenchError("cannot write \(path): error \(errno)") }
            rest = rest.dropFirst(count)
        }
    }

    /// The names in a directory, without the two every directory has.
    static func names(in directory: String) -> [String] {
        guard let stream = unsafe opendir(directory) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(cString: $0)
                }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Where a symbolic link leads, or `nil`.
    static func link(_ path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            return unsafe readlink(path, start.assumingMemoryBound(to: CChar.self), buffer.count)
        }
        guard count > 0 else { return nil }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Whether something has this path.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    /// The kind of what has this path: `S_IFSOCK`, `S_IFREG`, …
    static func kind(_ path: String) -> mode_t? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        return status.st_mode & S_IFMT
    }
}
