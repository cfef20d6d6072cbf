import CProcess

/// A process for good: a pid alone names whoever has the number now.
public struct ProcessIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The number.
    public let pid: Int32
    /// In clock ticks since boot.
    public let startTime: UInt64
    /// Its command line, cut at 255 bytes; a name in brackets where it has none.
    public let command: String

    public var description: String { "\(command) (pid \(pid))" }

    /// The process with this number, unless it is gone or dead.
    static func living(_ pid: Int32) -> ProcessIdentity? {
        guard let stat = ProcessFiles.stat(of: pid), !stat.isDead else { return nil }
        return ProcessIdentity(
            pid: pid, startTime: stat.start_time, command: ProcessFiles.command(of: pid))
    }
}

extension cproc_stat {
    /// Dead, and perhaps not reaped.
    var isDead: Bool { state == CChar(UInt8(ascii: "Z")) || state == CChar(UInt8(ascii: "X")) }
}
