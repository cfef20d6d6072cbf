import Glibc
import Stoic

extension ServiceReader {
    /// How a service says, or shows, that it is ready.
    mutating func readReady() -> ReadyDefinition {
        keys.fitting("ready").map { ready($0) } ?? .started(for: .zero)
    }

    private mutating func ready(_ given: Checked) -> ReadyDefinition {
        if let word = given.text { return word == "notify" ? .notify : .started(for: .zero) }
        guard let object = given.object else { return .started(for: .zero) }
        guard let key = object.given.first, object.given.count == 1 else {
            let count = object.given.isEmpty ? "none" : object.given.joined(separator: ", ")
            log.error(
                object, "expected exactly one kind of readiness, found \(count)",
                suggestion: "combine them with all: [{…}, {…}] or any: [{…}, {…}]")
            return .started(for: .zero)
        }
        return object[key].map { kind(key, $0) } ?? .started(for: .zero)
    }

    mutating func kind(_ key: String, _ value: Checked) -> ReadyDefinition {
        switch key {
        case "started": return .started(for: value.object?["for"]?.duration ?? .zero)
        case "notify":
            if value.flag == false { log.error(value, "notify can only be true") }
            return .notify
        case "fd": return .descriptor(Int32(value.integer ?? 3))
        case "tcp": return tcp(value)
        case "unix": return unix(value)
        case "exec": return exec(value)
        case "log": return expression(value)
        case "file": return .file(context.path(value.text ?? ""))
        case "delay": return .delay(value.duration ?? .zero)
        case "all", "any": return combination(key, value)
        default: return .started(for: .zero)
        }
    }

    private mutating func combination(_ key: String, _ value: Checked) -> ReadyDefinition {
        let parts = (value.list ?? []).map { ready($0) }
        if parts.isEmpty { log.error(value, "\(key) of nothing says nothing") }
        return key == "all" ? .all(parts) : .any(parts)
    }

    private func tcp(_ value: Checked) -> ReadyDefinition {
        let text = value.text ?? ""
        var host = "127.0.0.1"
        var portText = Substring(text)
        if let colon = text.lastIndex(of: ":") {
            host = String(text[..<colon])
            portText = text[text.index(after: colon)...]
            if host.hasPrefix("["), host.hasSuffix("]") {
                host = String(host.dropFirst().dropLast())
            } else if host.contains(":") {
                host = ""
            }
        }
        guard !host.isEmpty, let port = UInt16(portText), port > 0 else {
            log.error(
                value, "\(quoted(text)) is not a port",
                suggestion: "write 5432, localhost:5432 or [::1]:5432")
            return .started(for: .zero)
        }
        return .tcp(host: host, port: port)
    }

    private func unix(_ value: Checked) -> ReadyDefinition {
        let text = value.text ?? ""
        let path = text.hasPrefix("@") ? text : context.path(text)
        // sun_path has 108 bytes, and the last of a path is NUL.
        if path.utf8.count > 107 {
            log.error(
                value,
                "\(quoted(path)) has \(path.utf8.count) bytes, and a socket's path at most 107")
        }
        return .unix(path)
    }

    private mutating func exec(_ value: Checked) -> ReadyDefinition {
        let object = value.object
        let command = object.map { $0["command"] } ?? value
        return .exec(
            command.map { arguments($0) } ?? [],
            timeout: object?["timeout"]?.duration ?? .seconds(5))
    }

    private func expression(_ value: Checked) -> ReadyDefinition {
        let text = value.text ?? ""
        guard text.utf8.count <= 1_000 else {
            log.error(value, "a regular expression has at most 1000 bytes")
            return .log(text)
        }
        guard ExpressionSize.of(text) <= ExpressionSize.most else {
            log.error(
                value,
                "\(quoted(text)) is more than \(ExpressionSize.most) parts once its repetitions "
                    + "are written out", suggestion: "use * or + instead of nested {…}")
            return .log(text)
        }
        if let problem = expressionProblem(text) {
            log.error(value, "\(quoted(text)) is not a regular expression: \(problem)")
        }
        if let letter = foreignClass(in: text) {
            let digits = letter == "d" ? "[0-9]" : "[^0-9]"
            log.error(
                value, "\\\(letter) is just the letter \(letter) in a POSIX regular expression",
                suggestion: "write \(digits)")
        }
        return .log(text)
    }

    /// Descriptors in a child: the control channel comes first, at 3; what a `ready.fd` names must
    /// be free, and below the most the child may open.
    func checkDescriptors(_ definition: ServiceDefinition) {
        guard let given = keys.fitting("ready") else { return }
        var taken: Set<Int32> = []
        for number in definition.ready.descriptors {
            if definition.hasControlChannel && number == 3 {
                log.error(
                    given, "descriptor 3 is the control channel's", suggestion: "use 4 or above")
            }
            if !taken.insert(number).inserted {
                log.error(given, "descriptor \(number) is used twice")
            }
            if let most = definition.launch.limits["nofile"]?.soft, UInt64(number) >= most {
                log.error(
                    given, "descriptor \(number) is not below limits.nofile, which is \(most)")
            }
        }
    }
}

/// A class of characters that other kinds of expressions have and libc takes for a plain letter:
/// such a pattern would never match what it was written for.
private func foreignClass(in text: String) -> Character? {
    var isEscaped = false
    for character in text {
        if isEscaped, character == "d" || character == "D" { return character }
        isEscaped = character == "\\" && !isEscaped
    }
    return nil
}

/// What libc says is wrong with a POSIX extended regular expression.
private func expressionProblem(_ text: String) -> String? {
    // SAFETY: the expression is ours, and freed where it was compiled; the message has the room
    // that is told.
    var expression = unsafe regex_t()
    let code = unsafe regcomp(&expression, text, REG_EXTENDED | REG_NOSUB)
    guard code != 0 else {
        unsafe regfree(&expression)
        return nil
    }
    var message = [CChar](repeating: 0, count: 128)
    _ = unsafe regerror(code, &expression, &message, message.count)
    return String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

extension ReadyDefinition {
    /// What the brain is told of it.
    var readiness: ServiceSpec.Readiness {
        switch self {
        case .started(let least): least == .zero ? .launch : .reported
        case .completion: .completion
        case .notify, .descriptor, .tcp, .unix, .exec, .log, .file, .delay, .all, .any: .reported
        }
    }

    /// The descriptors it needs in the child. Recurses as deep as the config.
    var descriptors: [Int32] {
        switch self {
        case .descriptor(let number): [number]
        case .all(let parts), .any(let parts): parts.flatMap(\.descriptors)
        case .started, .notify, .tcp, .unix, .exec, .log, .file, .delay, .completion: []
        }
    }
}
