public import Stoic

/// Which of a service's descriptors output came from. The raw value is what the index stores.
public enum OutputStream: UInt8, Sendable, Hashable, CaseIterable {
    /// Standard output and standard error, sharing one pipe: in true order, not told apart.
    case combined = 1
    /// Standard output, from a pipe of its own.
    case standardOutput = 2
    /// Standard error, from a pipe of its own.
    case standardError = 3

    /// The name in JSON.
    public var name: String {
        switch self {
        case .combined: "combined"
        case .standardOutput: "stdout"
        case .standardError: "stderr"
        }
    }
}

/// When output was read, on both clocks.
public struct OutputStamp: Hashable, Sendable {
    /// Nanoseconds since 1970. Only ever printed; 0 when nobody recorded it.
    public var wall: Int64
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    public var monotonic: Int64

    /// Both readings.
    public init(wall: Int64, monotonic: Int64) {
        self.wall = wall
        self.monotonic = monotonic
    }

    /// Of output nobody recorded the time of.
    public static let unknown = OutputStamp(wall: 0, monotonic: 0)
}

/// One line of a service's output as it is shown: halves joined, decoded, cut at a bound. What is
/// on disk stays as the service wrote it.
public struct LogLine: Hashable, Sendable {
    /// When its first byte was read, in nanoseconds since 1970; 0 when unknown.
    public var wall: Int64
    /// Who wrote it.
    public var service: ServiceName
    /// Which launch wrote it; `nil` when the index does not say.
    public var incarnation: Incarnation?
    /// Where it was written to.
    public var stream: OutputStream
    /// The line without its newline. Every byte that is not part of valid UTF-8 is one U+FFFD.
    public var text: String
    /// Whether its end is missing here because it was longer than `maxLineBytes`.
    public var isCut: Bool
    /// Whether its beginning is missing: reading began in its middle, or bytes were lost before it.
    public var isContinued: Bool
    /// Whether no newline ended it: the stream ended, or bytes were lost after it.
    public var isUnfinished: Bool

    /// A whole line.
    public init(
        _ text: String, of service: ServiceName, incarnation: Incarnation? = nil,
        stream: OutputStream = .combined, wall: Int64 = 0
    ) {
        self.wall = wall
        self.service = service
        self.incarnation = incarnation
        self.stream = stream
        self.text = text
        isCut = false
        isContinued = false
        isUnfinished = false
    }
}

extension LogLine {
    /// Writes this line as one JSON object: `ts`, `wallNs`, `service`, `incarnation`, `stream`,
    /// `text`, and `cut`, `continued`, `unfinished` where true.
    public func write(to json: inout JSONWriter) {
        json.beginObject()
        if wall != 0 {
            json.key("ts")
            json.value(WallTime(nanoseconds: wall).utc)
            json.key("wallNs")
            json.value(wall)
        }
        json.key("service")
        json.value(service.text)
        if let incarnation {
            json.key("incarnation")
            json.value(incarnation.number)
        }
        json.key("stream")
        json.value(stream.name)
        json.key("text")
        json.value(text)
        let marks = [("cut", isCut), ("continued", isContinued), ("unfinished", isUnfinished)]
        for (name, holds) in marks where holds {
            json.key(name)
            json.value(true)
        }
        json.endObject()
    }
}
