import EventLoop
import Manifest
import Stoic

/// The verbs that read: logs and events.
extension Engine {
    /// Lines one request may ask for.
    static let mostLines = 100_000

    /// Bytes of lines one request may hold, and all together, until their clients took them.
    static let mostLogBytes = (request: 32 << 20, all: 64 << 20)
    /// Requests whose logs are being read: each takes a thread of the pool, also after its client
    /// has left.
    static let mostLogReads = 16
    /// Clients that follow: fewer than connections, so that somebody can always stop the project.
    static let mostFollowers = 96

    func streamEvents(_ request: ControlRequest, _ exchange: ControlExchange) {
        guard let since = UInt64(request.query["since"] ?? "0") else {
            return exchange.refuseQuery("since", "the id of an event")
        }
        guard let level = EventLevel(rawValue: request.query["level"] ?? "info") else {
            let levels = EventLevel.allCases.map(\.rawValue).joined(separator: ", ")
            return exchange.refuseQuery("level", "one of \(levels)")
        }
        guard !request.isFollowing else {
            guard let seat = followerSeat(exchange) else { return }
            let recent = journal.recent(after: since, atLeast: level)
            _ = ItemStream(exchange, recent, journal.follow(atLeast: level), [seat]) { $0.json }
            return
        }
        _ = ItemStream(exchange, journal.recent(after: since, atLeast: level), nil) { $0.json }
    }

    func streamLogs(_ request: ControlRequest, _ exchange: ControlExchange) {
        let wanted = request.query["service"].map { text in
            text.split(separator: ",", omittingEmptySubsequences: false)
                .map { ServiceName(String($0)) }
        }
        var names: [ServiceName] = []
        for name in wanted ?? machine.services.map({ machine.spec(of: $0).name })
        where !names.contains(name) {
            guard machine.service(named: name) != nil else {
                return exchange.fail(
                    404, code: "unknownService", message: "there is no service \"\(name)\"")
            }
            names.append(name)
        }
        guard let start = logStart(request.query, exchange) else { return }
        let sources = names.compactMap { storedLog($0, start) }
        var holds: [StreamHold] = []
        var follower: Follower<LogLine>?
        if request.isFollowing {
            guard let seat = followerSeat(exchange) else { return }
            holds.append(seat)
            // First follow, then read: a line that comes in between is shown twice rather than
            // never.
            follower = output.follow(wanted == nil ? nil : Set(names))
        }
        guard logReads < Self.mostLogReads else {
            follower?.close()
            return exchange.fail(
                503, code: "busy", message: "\(Self.mostLogReads) requests read logs already")
        }
        exchange.beginStream()
        do {
            // Logs may be large and disks slow: nothing of it is read on the loop's thread.
            try queueWork(loop, { StoredLog.lines(of: sources, start) }) { [weak self] found in
                self?.logReads -= 1
                guard let self, let room = logRoom(found.bytes, exchange) else {
                    follower?.close()
                    return
                }
                for words in found.failures { tell("output.unreadable", .warning, words) }
                if found.lost > 0 {
                    exchange.send(.object(["lost": .integer(Int64(found.lost))]))
                }
                _ = ItemStream(exchange, found.lines, follower, holds + [room]) { $0.json }
            }
            logReads += 1
        } catch {
            follower?.close()
            exchange.fail(503, code: "busy", message: "cannot read the logs now: \(error)")
        }
    }

    /// A place among those who follow; without one the client is told.
    private func followerSeat(_ exchange: ControlExchange) -> StreamHold? {
        guard followers < Self.mostFollowers else {
            exchange.fail(
                503, code: "busy", message: "\(Self.mostFollowers) clients follow already")
            return nil
        }
        followers += 1
        return StreamHold { [weak self] in self?.followers -= 1 }
    }

    /// Room for lines that wait for their client; without any the client is told.
    private func logRoom(_ bytes: Int, _ exchange: ControlExchange) -> StreamHold? {
        guard heldLogBytes + bytes <= Self.mostLogBytes.all else {
            exchange.fail(
                503, code: "busy",
                message: "other clients have not taken their logs yet; try again, or ask for less")
            return nil
        }
        heldLogBytes += bytes
        return StreamHold { [weak self] in self?.heldLogBytes -= bytes }
    }

    private func storedLog(_ name: ServiceName, _ start: LogReader.Start) -> StoredLog? {
        guard let id = machine.service(named: name),
            let definition = definitions.definition(of: machine.spec(of: id))
        else { return nil }
        return StoredLog(
            name: name, path: output.log(for: name, definition.output).path,
            maxLineBytes: definition.output.maxLineBytes)
    }

    private func logStart(
        _ query: [String: String], _ exchange: ControlExchange
    ) -> LogReader.Start? {
        if let text = query["since"] {
            guard let since = Double(text), since.isFinite else {
                exchange.refuseQuery("since", "a time in seconds since 1970")
                return nil
            }
            return .since(Int64(clamping: Int(max(min(since, 9e9), 0) * 1e9)))
        }
        guard let text = query["tail"] else { return .last(Self.mostLines) }
        guard let tail = Int(text), tail >= 0 else {
            exchange.refuseQuery("tail", "a number of lines")
            return nil
        }
        return .last(min(tail, Self.mostLines))
    }
}

extension ControlExchange {
    fileprivate func refuseQuery(_ name: String, _ expected: String) {
        fail(400, code: "badQuery", message: "\"\(name)\" has to be \(expected)")
    }
}

/// A log on disk, read on a thread of the pool.
private struct StoredLog: Sendable {
    let name: ServiceName
    let path: String
    let maxLineBytes: Int

    /// Lines of several logs.
    struct Found: Sendable {
        /// Merged by time.
        var lines: [LogLine] = []
        /// How many older ones are left out because there are too many.
        var lost = 0
        /// About how much memory the lines take.
        var bytes = 0
        /// What could not be read.
        var failures: [String] = []

        /// Keeps the newest `count` lines, and of these what `most` bytes hold.
        mutating func cut(to count: Int, bytes most: Int) {
            bytes = 0
            var first = lines.count
            let least = max(0, lines.count - count)
            while first > least, bytes + lines[first - 1].cost <= most {
                first -= 1
                bytes += lines[first].cost
            }
            lost += first - least
            lines.removeFirst(first)
        }
    }

    static func lines(of logs: [StoredLog], _ start: LogReader.Start) -> Found {
        var found = Found()
        var count = Int.max
        if case .last(let most) = start { count = most }
        for log in logs {
            do { try log.add(to: &found, start) } catch {
                found.failures.append("cannot read the log of \(log.name): \(error)")
            }
            found.lines.sort { $0.wall < $1.wall }
            found.cut(to: count, bytes: Engine.mostLogBytes.request)
        }
        return found
    }

    /// Adds its lines; while they are read, never more than twice what is kept.
    private func add(to found: inout Found, _ start: LogReader.Start) throws(FileError) {
        let reader = LogReader(name, file: path, maxLineBytes: maxLineBytes)
        try reader.seek(start)
        var bytes = 0
        while true {
            let more = try reader.next(1_000)
            found.lines += more.isEmpty ? reader.finish() : more
            bytes += more.reduce(0) { $0 + $1.cost }
            if more.isEmpty { return }
            guard bytes > Engine.mostLogBytes.request else { continue }
            bytes = 0
            found.lines.sort { $0.wall < $1.wall }
            found.cut(to: .max, bytes: Engine.mostLogBytes.request)
        }
    }
}

extension ControlRequest {
    fileprivate var isFollowing: Bool {
        let text = query["follow"] ?? "0"
        return text == "1" || text == "true" || text.isEmpty
    }
}
