import Glibc
public import Stoic

/// Writes events to the systemd journal, with their fields, by its native protocol (a datagram to
/// `/run/systemd/journal/socket`; "Native Journal Protocol", systemd.io).
///
/// Each event has `MESSAGE`, `PRIORITY`, `STOIC_EVENT`, `STOIC_SCOPE` and a `STOIC_…` variable for
/// each of its fields. One that is too large for a datagram is passed as a sealed memory file.
///
/// ```swift
/// await withAmbient { $0.instrumentation = JournalSink(identifier: "shop") } operation: {
///     await scanAll()
/// }
/// ```
public struct JournalSink: Instrumentation {
    /// Events below it need not be made.
    public let minimumLevel: Event.Level
    private let identifier: String
    private let writer: BackgroundWriter

    /// - Parameters:
    ///   - identifier: The name of the program (`SYSLOG_IDENTIFIER`).
    ///   - level: The lowest level it writes.
    ///   - socket: Where the journal listens.
    public init(
        identifier: String, from level: Event.Level = .info,
        socket: String = "/run/systemd/journal/socket"
    ) {
        minimumLevel = level
        self.identifier = identifier
        let destination = DatagramDestination(socket)
        writer = BackgroundWriter("the journal") { count in
            JournalEntry(identifier: identifier).dropped(count)
        } write: { entry in
            destination.send(entry)
        }
    }

    /// Takes one event; never waits.
    public func record(_ event: Event) {
        writer.enqueue(JournalEntry(identifier: identifier).bytes(event))
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

/// An event in the journal's export format.
struct JournalEntry {
    let identifier: String

    func bytes(_ event: Event) -> [UInt8] {
        let message = String(EventText(showsPriority: false).line(event).dropLast())
        var entry: [UInt8] = []
        append("MESSAGE", message, to: &entry)
        append("PRIORITY", "\(event.level.priority)", to: &entry)
        append("SYSLOG_IDENTIFIER", identifier, to: &entry)
        append("STOIC_EVENT", event.name.text, to: &entry)
        if !event.scopePath.isEmpty {
            append("STOIC_SCOPE", event.scopePath.joined(separator: "/"), to: &entry)
        }
        for field in event.fields {
            append("STOIC_" + Self.variable(field.key), field.shown, to: &entry)
        }
        return entry
    }

    func dropped(_ count: Int) -> [UInt8] {
        var entry: [UInt8] = []
        append("MESSAGE", "\(EventName.instrumentationDropped) events=\(count)", to: &entry)
        append("PRIORITY", "4", to: &entry)
        append("SYSLOG_IDENTIFIER", identifier, to: &entry)
        append("STOIC_EVENT", EventName.instrumentationDropped.text, to: &entry)
        return entry
    }

    /// `KEY=value`, or, when the value has newlines, the key, its length as 64 bits, and its bytes.
    private func append(_ key: String, _ value: String, to entry: inout [UInt8]) {
        entry += Array(key.utf8)
        let bytes = Array(value.utf8)
        if bytes.contains(10) {
            entry.append(10)
            let length = UInt64(bytes.count)
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                entry.append(UInt8(truncatingIfNeeded: length >> shift))
            }
        } else {
            entry.append(UInt8(ascii: "="))
        }
        entry += bytes
        entry.append(10)
    }

    /// The journal's variables have capital letters, digits and underscores.
    private static func variable(_ key: String) -> String {
        String(
            key.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }.prefix(
                50))
    }
}
