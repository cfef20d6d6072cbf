internal import Glibc

extension EventRecord {
    /// Writes this record as one JSON object: a line of `events.jsonl`, an element of `events`.
    ///
    /// Keys: `id`, `cause`, `ts` (wall, RFC 3339 in UTC), `wallNs`, `monotonicNs`, `name`,
    /// `service`, `incarnation`, `level`, `message`, `fields` (an object). Absent ones are left
    /// out.
    public func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("id")
        json.value(id)
        if let cause {
            json.key("cause")
            json.value(cause)
        }
        json.key("ts")
        json.value(WallTime(nanoseconds: wallNanoseconds).utc)
        json.key("wallNs")
        json.value(wallNanoseconds)
        json.key("monotonicNs")
        json.value(monotonicNanoseconds)
        json.key("name")
        json.value(name)
        if let service {
            json.key("service")
            json.value(service)
        }
        if let incarnation {
            json.key("incarnation")
            json.value(incarnation)
        }
        json.key("level")
        json.value(level.rawValue)
        json.key("message")
        json.value(message)
        if !fields.isEmpty { writeFields(to: &json) }
        json.endObject()
    }

    private func writeFields(to json: inout JSONWriter) {
        json.key("fields")
        json.beginObject()
        for (key, value) in fields {
            json.key(key)
            value.write(to: &json)
        }
        json.endObject()
    }

    /// This record for people: time (local), level, service, message, and what it follows from.
    /// One line, without its newline.
    public var line: String {
        var parts = [WallTime(nanoseconds: wallNanoseconds).localTime]
        parts.append(padded(level.rawValue, to: 7))
        if let service { parts.append(service) }
        parts.append(message.isEmpty ? name : "\(message) (\(name))")
        if message.isEmpty {
            parts.append(contentsOf: fields.map { "\($0.0)=\($0.1.text)" })
        }
        let origin = cause.map { " ← #\($0)" } ?? ""
        return parts.joined(separator: " ") + " #\(id)\(origin)"
    }
}

extension FieldValue {
    /// Writes this value.
    public func write(to json: inout JSONWriter) {
        switch self {
        case .text(let text): json.value(text)
        case .integer(let number): json.value(number)
        case .number(let number): json.value(number)
        case .flag(let flag): json.value(flag)
        case .none: json.null()
        case .list(let values):
            json.beginArray()
            for value in values { value.write(to: &json) }
            json.endArray()
        }
    }

    /// This value for people.
    public var text: String {
        switch self {
        case .text(let text): text
        case .integer(let number): number.description
        case .number(let number): number.description
        case .flag(let flag): flag.description
        case .none: "-"
        case .list(let values): values.map(\.text).joined(separator: ",")
        }
    }
}

private func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.utf8.count))
}
