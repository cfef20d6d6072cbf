internal import Manifest
internal import Stoic

/// All captured output of a project: the log of each service, the recent output in memory, and
/// those who look on. Bounded as a whole; a service that never wrote costs its entry in a table.
///
/// It lives on the loop's thread. Regular files are written from there, into the page cache;
/// nothing is ever synced.
final class OutputStore {
    /// How much memory and how many descriptors output may cost.
    struct Limits {
        /// Recent output of one service, in bytes. Default 64 KiB.
        var recentPerService = 64 << 10
        /// Recent output of all services, in bytes. Default 4 MiB; beyond, whoever holds more than
        /// its fair share gives up its oldest.
        var recentInAll = 4 << 20
        /// Logs that are open at a time, each with its index. Default 512; beyond, the one that was
        /// silent for longest is closed, and opened again when it has something to write.
        var openLogs = 512
    }

    /// The foreground view: every line of every service, complete and in order of arrival. Lines
    /// are put together only while this is set or somebody follows.
    var onLine: ((LogLine) -> Void)?
    /// Where the logs are that the config does not place elsewhere.
    let directory: String
    let clock: OutputClock

    private let limits: Limits
    private let sendReport: (OutputReport) -> Void
    private var logs: [ServiceName: ServiceLog] = [:]
    private var holders: [ServiceLog] = []
    private var hand = 0
    private var recentCost = 0
    private var openLogs: [ServiceLog] = []
    private var followers: [Follower<LogLine>] = []
    private var spareBuffer: [UInt8]?

    /// The length of one read: what a pipe holds.
    static let readLength = 64 << 10

    /// - Parameter report: hears what is worth knowing; it must not append output.
    init(
        directory: String, limits: Limits = Limits(), clock: OutputClock = .system,
        report: @escaping (OutputReport) -> Void
    ) {
        self.directory = directory
        self.limits = limits
        self.clock = clock
        sendReport = report
    }

    /// The log of a service, made at the first call, and brought up to `definition` at each.
    func log(for name: ServiceName, _ definition: OutputDefinition) -> ServiceLog {
        if let log = logs[name] {
            log.update(definition)
            return log
        }
        let log = ServiceLog(name, definition, of: self)
        logs[name] = log
        return log
    }

    /// Where the output of a service goes if its config names no file.
    func defaultPath(of name: ServiceName) -> String { "\(directory)/\(name).log" }

    /// Forgets a service that left the project. Its captures must be closed; its files stay.
    func forget(_ name: ServiceName) {
        guard let log = logs.removeValue(forKey: name) else { return }
        log.flush()
        log.release()
        holders.removeAll { $0 === log }
        openLogs.removeAll { $0 === log }
        recentCost -= log.recent.cost
    }

    /// The last lines of a service's output, from memory: as many as are held, at most 64 KiB.
    /// - Parameter incarnation: only of this launch, if given.
    func tail(of name: ServiceName, lines: Int, incarnation: Incarnation? = nil) -> [LogLine] {
        guard let log = logs[name] else { return [] }
        return log.recent.lines(
            last: lines, of: name, incarnation, limit: log.definition.maxLineBytes)
    }

    /// Every line from now on, of these services or of all, in a queue of `capacity` lines that
    /// gives up the oldest.
    func follow(_ names: Set<ServiceName>? = nil, capacity: Int = 4096) -> Follower<LogLine> {
        let follower = Follower<LogLine>(capacity: capacity) { line in
            names?.contains(line.service) ?? true
        }
        followers.append(follower)
        return follower
    }

    /// Reports losses that were held back.
    func flush() {
        for log in logs.values { log.flush() }
    }

    /// Reports what was held back and closes every file. Output that comes later opens its log
    /// again.
    func close() {
        flush()
        for log in logs.values { log.release() }
        openLogs = []
    }

    /// Whether anybody wants lines: the captures put them together only then.
    var wantsLines: Bool {
        followers.removeAll { $0.isClosed }
        return onLine != nil || !followers.isEmpty
    }

    func emit(_ line: LogLine) {
        onLine?(line)
        for follower in followers { follower.offer(line) }
    }

    func report(_ report: OutputReport) { sendReport(report) }

    /// Lends the one read buffer. A second borrower, from within a reaction to the bytes of the
    /// first, gets a new one.
    func borrowBuffer() -> [UInt8] {
        let buffer = spareBuffer ?? [UInt8](repeating: 0, count: Self.readLength)
        spareBuffer = nil
        return buffer
    }

    /// Takes the buffer back.
    func giveBack(_ buffer: consuming [UInt8]) { spareBuffer = buffer }
}

// MARK: - Bounds over all services

extension OutputStore {
    /// A log is about to open its files.
    func willOpen(_ log: ServiceLog) {
        openLogs.removeAll { !$0.isOpen || $0 === log }
        if openLogs.count >= limits.openLogs,
            let quietest = openLogs.indices.min(by: {
                openLogs[$0].lastReceived < openLogs[$1].lastReceived
            })
        {
            openLogs[quietest].release()
            openLogs.remove(at: quietest)
        }
        openLogs.append(log)
    }

    /// The recent output of a log grew: it, or whoever holds too much, gives up its oldest.
    func grew(_ log: ServiceLog, from before: Int) {
        if before == 0 { holders.append(log) }
        recentCost += log.recent.cost - before
        while log.recent.cost > limits.recentPerService { dropOldest(of: log) }
        while recentCost > limits.recentInAll {
            let fair = limits.recentInAll / max(holders.count, 1)
            dropOldest(of: log.recent.cost > fair ? log : nextHolder(above: fair))
        }
    }

    private func dropOldest(of log: ServiceLog) {
        recentCost -= log.recent.cost
        log.recent.dropOldest()
        recentCost += log.recent.cost
        if log.recent.cost == 0 { holders.removeAll { $0 === log } }
    }

    /// The next one, in turn, that holds more than `share`. There is one whenever the sum is more
    /// than all shares; one that holds nothing is no holder, so each step frees something.
    private func nextHolder(above share: Int) -> ServiceLog {
        for _ in holders.indices {
            hand = (hand + 1) % holders.count
            if holders[hand].recent.cost > share { break }
        }
        return holders[hand]
    }
}
