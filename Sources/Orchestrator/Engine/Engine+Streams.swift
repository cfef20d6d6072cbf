import EventLoop
import Manifest
import Stoic

/// The verbs that read: logs and events.
extension Engine {
    /// Lines one request may ask for.
    static let mostLines = 100_000

    func streamEvents(_ request: ControlRequest, _ exchange: ControlExchange) {
        let since = request.query["since"].flatMap { UInt64($0) } ?? 0
        let level = request.query["level"].flatMap { EventLevel(rawValue: $0) } ?? .info
        let follower = request.isFollowing ? journal.follow(atLeast: level) : nil
        _ = ItemStream(exchange, journal.recent(after: since, atLeast: level), follower) {
            $0.json
        }
    }

    func streamLogs(_ request: ControlRequest, _ exchange: ControlExchange) {
        let wanted = request.query["service"].map { text in
            text.split(separator: ",").map { ServiceName(String($0)) }
        }
        var names: [ServiceName] = []
        for name in wanted ?? machine.services.map({ machine.spec(of: $0).name }) {
            guard machine.service(named: name) != nil else {
                return exchange.fail(
                    404, code: "unknownService", message: "there is no service \"\(name)\"")
            }
            names.append(name)
        }
        let start = logStart(request.query)
        let sources = names.compactMap { storedLog($0, start) }
        // First follow, then read: a line that comes in between is shown twice rather than never.
        let follower =
            request.isFollowing ? output.follow(wanted == nil ? nil : Set(names)) : nil
        exchange.beginStream()
        do {
            // Logs may be large and disks slow: nothing of it is read on the loop's thread.
            try queueWork(loop, { StoredLog.lines(of: sources, start) }) { [weak self] found in
                for words in found.failures { self?.tell("output.unreadable", .warning, words) }
                _ = ItemStream(exchange, found.lines, follower) { $0.json }
            }
        } catch {
            exchange.fail(503, code: "busy", message: "cannot read the logs now: \(error)")
        }
    }

    private func storedLog(_ name: ServiceName, _ start: LogReader.Start) -> StoredLog? {
        guard let id = machine.service(named: name),
            let definition = definitions.definition(of: machine.spec(of: id))
        else { return nil }
        return StoredLog(
            name: name, path: output.log(for: name, definition.output).path,
            maxLineBytes: definition.output.maxLineBytes)
    }

    private func logStart(_ query: [String: String]) -> LogReader.Start {
        if let since = query["since"].flatMap({ Double($0) }), since.isFinite {
            return .since(Int64(clamping: Int(max(min(since, 9e9), 0) * 1e9)))
        }
        let tail = query["tail"].flatMap { Int($0) } ?? Self.mostLines
        return .last(min(max(tail, 0), Self.mostLines))
    }
}

/// A log on disk, read on a thread of the pool.
private struct StoredLog: Sendable {
    let name: ServiceName
    let path: String
    let maxLineBytes: Int

    /// The lines of several logs, merged by time, and what could not be read.
    static func lines(
        of logs: [StoredLog], _ start: LogReader.Start
    ) -> (lines: [LogLine], failures: [String]) {
        var lines: [LogLine] = []
        var failures: [String] = []
        for log in logs {
            do { lines += try log.lines(start) } catch {
                failures.append("cannot read the log of \(log.name): \(error)")
            }
        }
        lines.sort { $0.wall < $1.wall }
        if case .last(let count) = start { lines = lines.suffix(count) }
        return (lines, failures)
    }

    private func lines(_ start: LogReader.Start) throws(SystemFailure) -> [LogLine] {
        let reader = LogReader(name, file: path, maxLineBytes: maxLineBytes)
        try reader.seek(start)
        var lines: [LogLine] = []
        while lines.count < Engine.mostLines {
            let more = try reader.next(1_000)
            if more.isEmpty { break }
            lines += more
        }
        return lines + reader.finish()
    }
}

extension ControlRequest {
    fileprivate var isFollowing: Bool {
        let text = query["follow"] ?? "0"
        return text == "1" || text == "true" || text.isEmpty
    }
}
