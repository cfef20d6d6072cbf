import Manifest
import Stoic

/// The verbs that read: logs and events.
extension Engine {
    /// Lines one request may ask for.
    private static let mostLines = 100_000

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
        // First follow, then read: a line that comes in between is shown twice rather than never, and
        // both happen within this turn, so nothing comes in between.
        let follower =
            request.isFollowing ? output.follow(wanted == nil ? nil : Set(names)) : nil
        var lines: [LogLine] = []
        for name in names { lines += stored(name, start) }
        lines.sort { $0.wall < $1.wall }
        if case .last(let count) = start { lines = lines.suffix(count) }
        _ = ItemStream(exchange, lines, follower) { $0.json }
    }

    private func logStart(_ query: [String: String]) -> LogReader.Start {
        if let since = query["since"].flatMap({ Double($0) }), since.isFinite {
            return .since(Int64(clamping: Int(max(min(since, 9e9), 0) * 1e9)))
        }
        let tail = query["tail"].flatMap { Int($0) } ?? Self.mostLines
        return .last(min(max(tail, 0), Self.mostLines))
    }

    private func stored(_ name: ServiceName, _ start: LogReader.Start) -> [LogLine] {
        guard let id = machine.service(named: name),
            let definition = definitions.definition(of: machine.spec(of: id))
        else { return [] }
        let path = output.log(for: name, definition.output).path
        do {
            let reader = LogReader(
                name, file: path, maxLineBytes: definition.output.maxLineBytes)
            try reader.seek(start)
            var lines: [LogLine] = []
            while lines.count < Self.mostLines {
                let more = try reader.next(1_000)
                if more.isEmpty { break }
                lines += more
            }
            return lines + reader.finish()
        } catch {
            tell("output.unreadable", .warning, "cannot read the log of \(name): \(error)")
            return []
        }
    }
}

extension ControlRequest {
    fileprivate var isFollowing: Bool {
        let text = query["follow"] ?? "0"
        return text == "1" || text == "true" || text.isEmpty
    }
}
