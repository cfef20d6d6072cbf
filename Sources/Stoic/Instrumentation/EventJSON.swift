/// Events as JSON (RFC 8259), one object a line.
package enum EventJSON {
    /// The event, with its newline. Durations are numbers of seconds.
    package static func line(_ event: Event) -> String {
        var members = [
            "\"event\":\(string(event.name.text))", "\"level\":\(string(event.level.name))",
            "\"at\":\(seconds(event.instant.sinceOrigin))",
        ]
        if !event.scopePath.isEmpty {
            members.append("\"scope\":[\(event.scopePath.map(string).joined(separator: ","))]")
        }
        if !event.fields.isEmpty {
            let fields = event.fields.map { "\(string($0.key)):\(value($0))" }
            members.append("\"fields\":{\(fields.joined(separator: ","))}")
        }
        return "{\(members.joined(separator: ","))}\n"
    }

    /// The line that says how many events were dropped.
    package static func dropped(_ count: Int) -> String {
        let name = string(EventName.instrumentationDropped.text)
        return "{\"event\":\(name),\"level\":\"warning\",\"fields\":{\"events\":\(count)}}\n"
    }

    private static func value(_ field: Event.Field) -> String {
        guard !field.isSecret else { return string(field.shown) }
        switch field.value {
        case .text(let text): return string(text)
        case .integer(let number): return "\(number)"
        case .number(let number): return number.isFinite ? "\(number)" : string("\(number)")
        case .duration(let duration): return seconds(duration)
        case .flag(let flag): return flag ? "true" : "false"
        }
    }

    private static func seconds(_ duration: Duration) -> String { "\(duration / .seconds(1))" }

    /// A string with its quotes, escaped.
    package static func string(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
