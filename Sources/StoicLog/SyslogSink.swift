import Glibc
public import Stoic

/// Writes events to the local syslog (`/dev/log`), one datagram each, in the form of RFC 3164 that
/// local daemons take: priority, time, tag and process id, then the text, at most 1,024 bytes.
///
/// ```swift
/// await withAmbient { $0.instrumentation = SyslogSink(tag: "shop") } operation: {
///     await scanAll()
/// }
/// ```
public struct SyslogSink: Instrumentation {
    /// Events below it need not be made.
    public let minimumLevel: Event.Level
    private let line: SyslogLine
    private let writer: BackgroundWriter

    /// - Parameters:
    ///   - tag: The name of the program.
    ///   - level: The lowest level it writes.
    ///   - socket: Where syslog listens.
    public init(tag: String, from level: Event.Level = .info, socket: String = "/dev/log") {
        minimumLevel = level
        let line = SyslogLine(tag: tag)
        self.line = line
        let destination = DatagramDestination(socket)
        writer = BackgroundWriter("syslog") { count in
            line.bytes("\(EventName.instrumentationDropped) events=\(count)", .warning)
        } write: { bytes in
            destination.send(bytes)
        }
    }

    /// Takes one event; never waits.
    public func record(_ event: Event) {
        let text = EventText(showsPriority: false).line(event).dropLast()
        writer.enqueue(line.bytes(String(text), event.level))
    }

    /// Waits until everything reported so far is written, at most for `limit`; default 500 ms.
    /// - Returns: Whether it is.
    @discardableResult
    public nonisolated(nonsending) func flush(
        within limit: Duration = .milliseconds(500)
    ) async -> Bool {
        await writer.flush(within: limit)
    }
}

/// One line of syslog.
struct SyslogLine: Sendable {
    /// What the format allows.
    static let most = 1_024
    /// LOG_DAEMON.
    private static let facility = 3

    let tag: String

    func bytes(_ text: String, _ level: Event.Level) -> [UInt8] {
        let priority = Self.facility * 8 + level.priority
        let head = "<\(priority)>\(Self.timestamp()) \(tag)[\(getpid())]: "
        var bytes = Array((head + text).utf8)
        guard bytes.count > Self.most else { return bytes }
        bytes.removeLast(bytes.count - Self.most)
        // Not in the middle of a character.
        while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
        if let last = bytes.last, last >= 0xC0 { bytes.removeLast() }
        return bytes
    }

    /// `Nov  3 04:05:06`, in local time.
    private static func timestamp() -> String {
        // SAFETY: `localtime_r` fills `parts`; the one pointer in it, the name of the zone, is
        // never read.
        var now = time(nil)
        var parts = unsafe tm()
        unsafe localtime_r(&now, &parts)
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        func two(_ number: Int32, _ pad: String) -> String {
            (number < 10 ? pad : "") + "\(number)"
        }
        let clock = unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec].map { two($0, "0") }
        let day = unsafe "\(months[Int(parts.tm_mon)]) \(two(parts.tm_mday, " "))"
        return "\(day) \(clock.joined(separator: ":"))"
    }
}
