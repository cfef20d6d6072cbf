public import EventLoop
public import Stoic

/// The record of what the engine did: the latest events in memory, all of them (up to a bound) as
/// JSON Lines on disk, and those who follow along.
///
/// It lives on the loop's thread. A full disk costs records, which are counted, and nothing else.
public final class EventJournal {
    /// What the journal may cost.
    public struct Limits: Hashable, Sendable {
        /// The file is put aside at this size, over the one put aside before. Default 16 MiB.
        public var maxBytes: UInt64 = 16 << 20
        /// Records in memory. Default 4,096.
        public var recent = 4096

        /// The defaults.
        public init() {}
    }

    /// Records that could not be written to disk.
    public private(set) var lost: UInt64 = 0
    /// Hears that records are being lost, with the count so far: at the first, and then each time
    /// the count has doubled. It must not append.
    public var onLoss: ((_ lost: UInt64, _ error: SystemError) -> Void)?

    private let limits: Limits
    private let clock: OutputClock
    private var file: JournalFile
    private var ring: [EventRecord] = []
    private var oldest = 0
    private var pending: [EventRecord] = []
    private var nextLossReport: UInt64 = 1
    private var followers: [Follower<EventRecord>] = []

    /// Records that wait for the end of the turn before they are written at once.
    private static let mostPending = 256

    /// A journal that appends to `file`, opened at the first record.
    public convenience init(file: String, limits: Limits = Limits()) {
        self.init(file: file, limits: limits, clock: .system)
    }

    init(file: String, limits: Limits = Limits(), clock: OutputClock) {
        self.limits = limits
        self.clock = clock
        self.file = JournalFile(file, maxBytes: limits.maxBytes)
    }

    /// Has records written at the end of each turn of `loop`: a crash loses at most a turn. What
    /// others do at the end of a turn is part of it if they said so to the loop before.
    public func attach(to loop: Loop) {
        loop.onTurnEnd { [weak self] in self?.flush() }
    }

    /// Adds a record. Its id must be greater than that of the one before.
    public func append(_ record: EventRecord) {
        if ring.count < limits.recent {
            ring.append(record)
        } else if limits.recent > 0 {
            ring[oldest] = record
            oldest = (oldest + 1) % ring.count
        }
        pending.append(record)
        followers.removeAll { $0.isClosed }
        for follower in followers { follower.offer(record) }
        if pending.count >= Self.mostPending { flush() }
    }

    /// Writes what waits to the file.
    public func flush() {
        guard !pending.isEmpty else { return }
        var lines = JSONWriter()
        for record in pending {
            record.write(to: &lines)
            lines.endLine()
        }
        let count = UInt64(pending.count)
        // A burst of records must not cost its memory for ever.
        pending = []
        guard !file.append(lines.bytes, now: clock.now().monotonic) else { return }
        lost += count
        if lost >= nextLossReport, let error = file.trouble {
            nextLossReport = lost &* 2
            onLoss?(lost, error)
        }
    }

    /// Writes what waits and closes the file. A later record opens it again.
    public func close() {
        flush()
        file.close()
    }

    /// The records in memory that are newer than `id` and at least of this level, oldest first.
    public func recent(after id: UInt64 = 0, atLeast level: EventLevel = .debug) -> [EventRecord] {
        (ring[oldest...] + ring[..<oldest]).filter { $0.id > id && $0.level >= level }
    }

    /// The record with this number, if it is still in memory.
    /// - Complexity: O(log n).
    public func record(_ id: UInt64) -> EventRecord? {
        var low = 0
        var high = ring.count
        while low < high {
            let middle = (low + high) / 2
            let record = ring[(oldest + middle) % ring.count]
            if record.id == id { return record }
            if record.id < id { low = middle + 1 } else { high = middle }
        }
        return nil
    }

    /// The record with this number and what it follows from, back to the first cause that is still
    /// in memory: what `why` prints, latest first.
    public func chain(from id: UInt64) -> [EventRecord] {
        var chain: [EventRecord] = []
        var next: UInt64? = id
        while let id = next, let record = record(id) {
            chain.append(record)
            // A cause is older than what follows from it; anything else would go round for ever.
            next = record.cause.flatMap { $0 < id ? $0 : nil }
        }
        return chain
    }

    /// Every record from now on that is at least of this level, in a queue of `capacity` records
    /// that gives up the oldest.
    public func follow(
        capacity: Int = 1024, atLeast level: EventLevel = .debug
    ) -> Follower<EventRecord> {
        let follower = Follower<EventRecord>(capacity: capacity) { $0.level >= level }
        followers.append(follower)
        return follower
    }
}

/// What an engine left on disk: for `events` and `why` when nothing runs any more.
extension EventJournal {
    /// Bytes of the end of the file that are looked at: some twenty thousand events.
    private static let mostStoredBytes: UInt64 = 4 << 20

    /// The events of the latest run, oldest first, as far as they are within the last 4 MiB. Lines
    /// that are cut short are passed over.
    ///
    /// - Parameter path: The file of an engine's journal; one that is missing has no events.
    /// - Throws: When the file cannot be read.
    public static func latestRun(_ path: String) throws(SystemError) -> [JSONValue] {
        guard let file = try FileCalls.openReading(path) else { return [] }
        let size = try FileCalls.facts(of: file.number, named: path).size
        let begin = size > mostStoredBytes ? size - mostStoredBytes : 0
        let bytes = try FileCalls.read(
            file.number, at: begin, limit: Int(min(size, mostStoredBytes)), named: path)
        var run: [JSONValue] = []
        var last: Int64 = 0
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let event = event(Array(line)), let id = event["id"]?.integer else { continue }
            // Each engine counts from 1.
            if id <= last { run = [] }
            last = id
            run.append(event)
        }
        return run
    }

    private static func event(_ line: [UInt8]) -> JSONValue? {
        do { return try JSONValue(parsing: line) } catch {
            // Cut short, by a crash, a full disk or where we began.
            return nil
        }
    }
}
