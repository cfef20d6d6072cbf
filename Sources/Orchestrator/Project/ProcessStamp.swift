import Glibc

/// A process named so that no other process is ever meant: a number alone is handed out again
/// after its process ended, and after a reboot.
public struct ProcessStamp: Hashable, Sendable, CustomStringConvertible {
    /// The boot it ran in (`/proc/sys/kernel/random/boot_id`).
    public let boot: String
    /// Its number.
    public let pid: Int32
    /// When it started: clock ticks since boot, field 22 of `/proc/PID/stat`.
    public let startTime: UInt64

    /// A stamp from its parts.
    public init(boot: String, pid: Int32, startTime: UInt64) {
        self.boot = boot
        self.pid = pid
        self.startTime = startTime
    }

    /// The stamp of the process that has this number now.
    ///
    /// - Returns: `nil` when there is none, or when it ended and only waits to be reaped.
    public static func current(of pid: Int32) -> ProcessStamp? {
        guard let status = ProcessStatus.read(pid), status.isAlive, let boot = bootID() else {
            return nil
        }
        return ProcessStamp(boot: boot, pid: pid, startTime: status.startTime)
    }

    /// The stamp of this process.
    public static func ofThisProcess() -> ProcessStamp? { current(of: getpid()) }

    /// Whether exactly this process is still alive: same boot, same number, same start.
    public var isAlive: Bool { Self.current(of: pid) == self }

    /// The identifier of the running boot; `nil` where `/proc` is missing.
    public static func bootID() -> String? {
        guard let text = smallFile("/proc/sys/kernel/random/boot_id", atMost: 64) else {
            return nil
        }
        let id = String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return id.isEmpty ? nil : id
    }

    public var description: String { "pid \(pid) (started at tick \(startTime) of boot \(boot))" }
}

/// What `/proc/PID/stat` says that we need.
struct ProcessStatus {
    /// When it started, in clock ticks since boot.
    let startTime: UInt64
    /// Whether it still runs: an ended process that waits to be reaped does not.
    let isAlive: Bool

    static func read(_ pid: Int32) -> ProcessStatus? {
        guard pid > 0, let text = smallFile("/proc/\(pid)/stat", atMost: 4096) else { return nil }
        return ProcessStatus(parsing: text)
    }

    /// The name in field 2 may hold spaces and parentheses, so fields count from the last `)`.
    init?(parsing text: [UInt8]) {
        guard let close = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = text[(close + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > 19,
            let start = UInt64(String(decoding: fields[19], as: UTF8.self))
        else { return nil }
        startTime = start
        isAlive = fields[0].first != UInt8(ascii: "Z") && fields[0].first != UInt8(ascii: "X")
    }
}

/// The first bytes of a file that is known to be small, such as those of `/proc`.
func smallFile(_ path: String, atMost limit: Int) -> [UInt8]? {
    // SAFETY: the path is a text of ours, which lives through the call.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return bytes(of: descriptor, atMost: limit)
}

/// The first `limit` bytes of an open file, from its start; `nil` when it cannot be read.
func bytes(of descriptor: CInt, atMost limit: Int) -> [UInt8]? {
    var content = [UInt8]()
    var buffer = [UInt8](repeating: 0, count: min(limit, 64 << 10))
    while content.count < limit {
        let wanted = min(buffer.count, limit - content.count)
        let offset = off_t(content.count)
        // SAFETY: at most as much is read as the array has room for.
        let count = retryingInterrupts {
            unsafe pread(descriptor, &buffer, wanted, offset)
        }
        guard count >= 0 else { return nil }
        if count == 0 { break }
        content += buffer[..<count]
    }
    return content
}
