internal import Manifest
internal import Orchestrator

/// Why a verb did not do what was asked, in the words of the command line.
struct Failure: Error, Hashable, Sendable {
    /// What the process exits with.
    var code: ExitCode
    /// One sentence without its full stop: "cannot …".
    var message: String
    /// What to do next: one line.
    var hint: String?
    /// What is wrong with the config, one by one.
    var diagnostics: [Diagnostic]
    /// Particulars of the message, each a line before it.
    var details: [String]

    /// Whether another engine runs the project, which could be asked instead.
    var runsAlready = false

    /// A failure with its code.
    init(_ code: ExitCode, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
        diagnostics = []
        details = []
    }

    /// A command line that cannot be understood.
    init(_ error: UsageError) {
        self.init(.usage, error.message, hint: error.seeAlso)
    }

    /// A config that cannot be used.
    init(_ error: ConfigError) {
        let count = error.diagnostics.count { $0.severity == .error }
        self.init(.config, "cannot use the config: \(counted(count, "error"))")
        diagnostics = error.diagnostics
    }

    /// For people: the config's problems as they are, or `error:`, the message and the hint.
    func text(_ style: Style) -> String {
        var lines = diagnostics.map { safeForTerminal($0.description) } + details
        lines.append(style.paint("error:", .red) + " " + message)
        if let hint { lines.append(hint) }
        return lines.joined(separator: "\n")
    }

    /// For programs: one object on one line.
    var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("error")
        writer.beginObject()
        writer.key("exitCode")
        writer.value(Int(code.number))
        writer.key("message")
        writer.value(message)
        if let hint {
            writer.key("hint")
            writer.value(hint)
        }
        if !details.isEmpty {
            writer.key("details")
            writer.beginArray()
            for detail in details { writer.value(detail) }
            writer.endArray()
        }
        if !diagnostics.isEmpty {
            writer.key("diagnostics")
            writer.beginArray()
            for diagnostic in diagnostics { diagnostic.write(to: &writer) }
            writer.endArray()
        }
        writer.endObject()
        writer.endObject()
        return writer.text
    }
}

extension Diagnostic {
    /// Writes it as one JSON object.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("severity")
        writer.value(severity.rawValue)
        writer.key("file")
        writer.value(file)
        writer.key("line")
        writer.value(line)
        writer.key("column")
        writer.value(column)
        writer.key("path")
        writer.value(path)
        writer.key("message")
        writer.value(message)
        writer.key("suggestion")
        writer.value(suggestion)
        writer.endObject()
    }
}

/// `1 error`, `2 errors`.
func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
}
