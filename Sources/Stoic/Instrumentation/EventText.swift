/// Events as lines of text.
package struct EventText: Sendable {
    /// Whether each line begins with its syslog priority in angle brackets.
    let showsPriority: Bool

    package init(showsPriority: Bool) { self.showsPriority = showsPriority }

    /// `warning app/db retry.gaveUp attempts=3 error="no route"`, with its newline.
    package func line(_ event: Event) -> String {
        var words = [event.level.name]
        if !event.scopePath.isEmpty { words.append(event.scopePath.joined(separator: "/")) }
        words.append(event.name.text)
        words += event.fields.map { "\($0.key)=\(Self.quoted($0.shown))" }
        let prefix = showsPriority ? "<\(event.level.priority)>" : ""
        return prefix + words.joined(separator: " ") + "\n"
    }

    /// The line that says how many events were dropped.
    package func dropped(_ count: Int) -> String {
        let prefix = showsPriority ? "<\(Event.Level.warning.priority)>" : ""
        return "\(prefix)warning \(EventName.instrumentationDropped) events=\(count)\n"
    }

    /// A value in quotes if it has spaces, quotes or control characters, so that a line stays one.
    private static func quoted(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy {
            $0.value > 0x20 && $0 != "\"" && $0.value != 0x7F
        }
        guard !isPlain || text.isEmpty else { return text }
        return EventJSON.string(text)
    }
}

extension Event.Field {
    /// The value as it may be written down.
    package var shown: String {
        guard !isSecret else { return "<redacted>" }
        switch value {
        case .text(let text): return text
        case .integer(let number): return "\(number)"
        case .number(let number): return "\(number)"
        case .duration(let duration): return duration.inShort
        case .flag(let flag): return flag ? "yes" : "no"
        }
    }
}

extension Duration {
    /// Three digits and a unit, for people: `147ms`, `1.50s`, `30s`. JSON has the exact number.
    fileprivate var inShort: String {
        let nanoseconds = Double(components.seconds) * 1e9 + Double(components.attoseconds) / 1e9
        let units = [("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)]
        let (unit, size) = units.first { abs(nanoseconds) >= $0.1 } ?? ("s", 1e9)
        let value = nanoseconds / size
        let places = abs(value) >= 100 ? 1.0 : abs(value) >= 10 ? 10 : 100
        let rounded = (value * places).rounded() / places
        let isWhole = rounded == rounded.rounded() && abs(rounded) < 1e15
        return (isWhole ? "\(Int(rounded))" : "\(rounded)") + unit
    }
}

extension Event.Level {
    /// The level in one word.
    package var name: String {
        switch self {
        case .debug: "debug"
        case .info: "info"
        case .notice: "notice"
        case .warning: "warning"
        case .error: "error"
        }
    }

    /// The priority of syslog(3).
    package var priority: Int {
        switch self {
        case .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        }
    }
}
