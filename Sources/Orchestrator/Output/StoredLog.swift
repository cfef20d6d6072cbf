public import Manifest
internal import Stoic

/// The log of a service on disk. Reading it blocks, on large files and slow disks for long: the
/// engine reads on a thread of the pool.
public struct StoredLog: Sendable {
    let name: ServiceName
    let path: String
    let maxLineBytes: Int

    /// Lines one answer may have.
    public static let mostLines = 100_000
    /// Bytes of lines one answer may hold.
    static let mostBytes = 32 << 20

    init(_ name: ServiceName, path: String, maxLineBytes: Int) {
        self.name = name
        self.path = path
        self.maxLineBytes = maxLineBytes
    }

    /// The log of `service` where an engine with these directories leaves it.
    public init(of service: ServiceDefinition, in directories: ProjectDirectories) {
        name = service.spec.name
        path = service.output.file ?? "\(directories.logs)/\(name).log"
        maxLineBytes = service.output.maxLineBytes
    }

    /// Lines of several logs.
    public struct Found: Sendable {
        /// Merged by time.
        public private(set) var lines: [LogLine] = []
        /// How many older ones are left out because there are too many.
        public private(set) var lost = 0
        /// About how much memory the lines take.
        private(set) var bytes = 0
        /// What could not be read, in sentences.
        public fileprivate(set) var failures: [String] = []

        fileprivate mutating func add(_ more: [LogLine]) { lines += more }

        /// Keeps the newest `count` lines, and of these what `mostBytes` holds.
        fileprivate mutating func cut(to count: Int) {
            lines.sort { $0.wall < $1.wall }
            bytes = 0
            var first = lines.count
            let least = max(0, lines.count - count)
            while first > least, bytes + lines[first - 1].cost <= StoredLog.mostBytes {
                first -= 1
                bytes += lines[first].cost
            }
            lost += first - least
            lines.removeFirst(first)
        }
    }

    /// The lines of several logs, merged by time, and what could not be read.
    /// - Parameter most: The last so many of them.
    public static func lines(
        of logs: [StoredLog], _ start: LogReader.Start, atMost most: Int = mostLines
    ) -> Found {
        lines(of: logs, start, atMost: most, until: StopFlag())
    }

    /// As above, and what is there so far once nobody waits for it any more.
    static func lines(
        of logs: [StoredLog], _ start: LogReader.Start, atMost most: Int, until flag: StopFlag
    ) -> Found {
        var found = Found()
        for log in logs {
            do { try log.add(to: &found, start, until: flag) } catch {
                found.failures.append("cannot read the log of \(log.name): \(error)")
            }
            found.cut(to: min(max(most, 0), mostLines))
        }
        return found
    }

    /// Adds its lines; while they are read, never more than twice what is kept.
    private func add(
        to found: inout Found, _ start: LogReader.Start, until flag: StopFlag
    ) throws(SystemError) {
        guard !flag.isSet else { return }
        let reader = LogReader(name, file: path, maxLineBytes: maxLineBytes)
        reader.stop = flag
        try reader.seek(start)
        var bytes = 0
        while !flag.isSet {
            let more = try reader.next(1_000)
            found.add(more.isEmpty ? reader.finish() : more)
            bytes += more.reduce(0) { $0 + $1.cost }
            if more.isEmpty { return }
            guard bytes > Self.mostBytes else { continue }
            bytes = 0
            found.cut(to: .max)
        }
    }
}
