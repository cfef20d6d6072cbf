internal import Manifest
internal import Orchestrator
internal import Stoic

/// How long the starts and stops of a service took, as its events say: the longest of each kind.
struct MeasuredTimes: Hashable, Sendable {
    /// From the launch to the running program.
    var launch: Duration?
    /// From the running program to readiness.
    var ready: Duration?
    /// From the running program of a oneshot to its completion.
    var run: Duration?
    /// From what told it to end to its end, where it was not killed.
    var stop: Duration?

    /// A longer file is refused.
    static let mostBytes = 256 << 20
}

/// Reads events, one JSON object on each line, and measures what they say.
struct EventLogReader {
    private(set) var times: [ServiceName: MeasuredTimes] = [:]
    private var launchedAt: [String: Int64] = [:]
    private var askedAt: [String: Int64] = [:]
    private var stoppingAt: [String: Int64] = [:]

    /// The times in the file at `path`.
    static func read(_ path: String) throws(Failure) -> [ServiceName: MeasuredTimes] {
        let bytes: [UInt8]
        do { bytes = try readFile(path, most: MeasuredTimes.mostBytes) } catch {
            throw Failure(.usage, "cannot read \(safeForTerminal(path)): \(error.reason)")
        }
        var reader = EventLogReader()
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.isEmpty {
            if let record = EventRecord(json: Array(line)) {
                reader.take(record)
            } else if index < lines.count - 1 {
                // Without its newline the last one may be torn: its engine was killed.
                throw Failure(
                    .usage, "\(safeForTerminal(path)):\(index + 1): this is not an event",
                    hint: "Record some with: \(CommandTable.program) events --json > events.jsonl")
            }
        }
        return reader.times
    }

    private mutating func take(_ record: EventRecord) {
        guard let service = record.service else { return }
        let now = record.monotonicNanoseconds
        switch record.name {
        case "service.launching":
            askedAt[service] = now
            launchedAt[service] = nil
            stoppingAt[service] = nil
        case "service.launched":
            note(service, \.launch, since: askedAt[service], now)
            launchedAt[service] = now
        case "service.ready":
            note(service, \.ready, since: launchedAt[service] ?? askedAt[service], now)
            launchedAt[service] = nil
            askedAt[service] = nil
        case "service.completed":
            note(service, \.run, since: launchedAt[service] ?? askedAt[service], now)
        case "service.stopping": stoppingAt[service] = now
        case "service.killed": stoppingAt[service] = nil
        case "service.stopped":
            note(service, \.stop, since: stoppingAt[service], now)
            stoppingAt[service] = nil
        default: break
        }
    }

    /// Two moments of different boots lie in any order; only what is forward was measured.
    private mutating func note(
        _ service: String, _ what: WritableKeyPath<MeasuredTimes, Duration?>, since: Int64?,
        _ now: Int64
    ) {
        guard let since, now >= since else { return }
        let time = Duration.nanoseconds(now - since)
        let name = ServiceName(service)
        let before = times[name, default: MeasuredTimes()][keyPath: what] ?? .zero
        times[name, default: MeasuredTimes()][keyPath: what] = max(before, time)
    }
}
