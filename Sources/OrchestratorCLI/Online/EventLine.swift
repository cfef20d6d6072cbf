internal import Orchestrator

/// One event of the engine, as it came over the wire, drawn for people.
struct EventLine: Hashable, Sendable {
    /// Its number.
    var id: Int64?
    /// The number of the event it follows from.
    var cause: Int64?
    /// The service it is about.
    var service: String?
    private var time: String
    private var level: EventLevel
    private var message: String

    /// An event from its JSON; what is missing is left out.
    init(_ event: JSONValue) {
        id = event["id"]?.integer
        cause = event["cause"]?.integer
        service = event["service"]?.string
        let name = event["name"]?.string ?? ""
        let text = event["message"]?.string ?? ""
        message = text.isEmpty ? name : text
        level = event["level"]?.string.flatMap(EventLevel.init(rawValue:)) ?? .info
        time =
            event["wallNs"]?.integer.map { WallTime(nanoseconds: $0).localTime }
            ?? event["ts"]?.string ?? ""
    }

    /// `14:00:00.000 warning db: restarts in 2 s #18 ← #17`, without its newline.
    func text(_ style: Style) -> String {
        var parts: [String] = []
        if !time.isEmpty { parts.append(style.paint(safeForTerminal(time), .faint)) }
        switch level {
        case .debug, .info, .notice: break
        case .warning: parts.append(style.paint("warning", .yellow))
        case .error: parts.append(style.paint("error", .red))
        }
        parts.append(prefix(style) + safeForTerminal(message))
        if let id {
            let origin = cause.map { " ← #\($0)" } ?? ""
            parts.append(style.paint("#\(id)\(origin)", .faint))
        }
        return parts.joined(separator: " ")
    }
}

extension EventLine {
    /// The service, unless the sentence begins with its name anyway.
    private func prefix(_ style: Style) -> String {
        guard let service, !message.hasPrefix(service + " ") else { return "" }
        return style.paint(safeForTerminal(service), .bold) + ": "
    }
}

/// Why something happened: an event, and what it follows from.
enum CauseChain {
    /// The events that lead to the last one about `service`, oldest first; empty without one.
    /// A chain ends where an event has no cause, or its cause is no longer remembered.
    static func of(_ service: String, in events: [JSONValue]) -> [JSONValue] {
        var known: [Int64: JSONValue] = [:]
        for event in events {
            if let id = event["id"]?.integer { known[id] = event }
        }
        var chain: [JSONValue] = []
        var current = events.last { $0["service"]?.string == service }
        while let event = current {
            chain.append(event)
            let id = event["id"]?.integer ?? 0
            // A cause is older than what follows from it, so the walk ends whatever we were sent.
            current = event["cause"]?.integer.flatMap { $0 < id ? known[$0] : nil }
        }
        return chain.reversed()
    }
}
