import Manifest

/// What the body of each verb may have. A member that is misspelt or of the wrong kind is refused:
/// `{"name": ["db"]}` must not stop the whole project because it names nothing.
enum RequestForm {
    private enum Kind {
        case names
        case text
        case flag
        case seconds
        case signal

        var words: String {
            switch self {
            case .names: "a list of names"
            case .text: "text"
            case .flag: "true or false"
            case .seconds: "a number of seconds, not negative"
            case .signal: "the name or the number of a signal"
            }
        }

        func accepts(_ value: JSONValue) -> Bool {
            switch self {
            case .names: value.array?.allSatisfy { $0.string != nil } ?? false
            case .text: value.string != nil
            case .flag: value.bool != nil
            case .seconds: value.seconds.map { $0 >= 0 } ?? false
            case .signal: value.string != nil || value.integer != nil
            }
        }
    }

    private static let waiting: [(String, Kind)] = [("wait", .flag), ("timeout", .seconds)]

    private static let forms: [String: [(String, Kind)]] = [
        "up": [("names", .names)] + waiting,
        "start": [("names", .names)] + waiting,
        "stop": [("names", .names)] + waiting,
        "down": [("names", .names), ("now", .flag)] + waiting,
        "restart": [("names", .names)] + waiting,
        "signal": [("name", .text), ("signal", .signal), ("to", .text)] + waiting,
        "reload": [("service", .text), ("rollback", .flag)] + waiting,
        "plan": [],
        "wait": [("names", .names), ("for", .text), ("timeout", .seconds)],
    ]

    /// What is wrong with the body of `verb`; `nil` if nothing, or if there is no such verb.
    static func problem(of body: JSONValue?, for verb: String) -> String? {
        guard let form = forms[verb], let body else { return nil }
        guard let object = body.object else { return "the body has to be an object" }
        for member in object.members {
            guard let kind = form.first(where: { $0.0 == member.key })?.1 else {
                let known = form.map { "\"\($0.0)\"" }.joined(separator: ", ")
                return "there is no \"\(member.key.prefix(60))\" in the body of \(verb)"
                    + (known.isEmpty ? "" : ": it may have \(known)")
            }
            guard kind.accepts(member.value) else {
                return "\"\(member.key)\" has to be \(kind.words)"
            }
        }
        return nil
    }
}
