import EventLoop
import Manifest
import Stoic

/// The verbs that read: logs and events.
extension Engine {
    /// Bytes of lines all requests together may hold, until their clients took them.
    static let mostHeldLogBytes = 64 << 20
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
                    404, code: "unknownService", message: "no service \"\(name)\"")
            }
            names.append(name)
        }
        guard let (start, most) = logStart(request.query, exchange) else { return }
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
        guard logReads.count < Self.mostLogReads else {
            follower?.close()
            return exchange.fail(
                503, code: "busy", message: "\(Self.mostLogReads) requests read logs already")
        }
        exchange.beginStream()
        // A read that nobody waits for any more ends early: the end of the engine waits for it.
        let flag = StopFlag()
        exchange.onClientGone = { flag.set() }
        do {
            // Logs may be large and disks slow: nothing of it is read on the loop's thread.
            try queueWork(loop, { StoredLog.lines(of: sources, start, atMost: most, until: flag) })
            {
                [weak self] found in
                self?.logReads.removeAll { $0 === flag }
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
            logReads.append(flag)
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
        guard heldLogBytes + bytes <= Self.mostHeldLogBytes else {
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
            name, path: output.log(for: name, definition.output).path,
            maxLineBytes: definition.output.maxLineBytes)
    }

    private func logStart(
        _ query: [String: String], _ exchange: ControlExchange
    ) -> (start: LogReader.Start, most: Int)? {
        var since: Int64?
        if let text = query["since"] {
            guard let moment = Double(text), moment.isFinite else {
                exchange.refuseQuery("since", "a time in seconds since 1970")
                return nil
            }
            since = Int64(clamping: Int(max(min(moment, 9e9), 0) * 1e9))
        }
        var most = StoredLog.mostLines
        if let text = query["tail"] {
            guard let tail = Int(text), tail >= 0 else {
                exchange.refuseQuery("tail", "a number of lines")
                return nil
            }
            most = min(tail, most)
        }
        return (since.map { .since($0) } ?? .last(most), most)
    }
}

extension ControlRequest {
    fileprivate var isFollowing: Bool {
        let text = query["follow"] ?? "0"
        return text == "1" || text == "true" || text.isEmpty
    }
}

extension ControlExchange {
    fileprivate func refuseQuery(_ name: String, _ expected: String) {
        fail(400, code: "badQuery", message: "\"\(name)\" has to be \(expected)")
    }
}
