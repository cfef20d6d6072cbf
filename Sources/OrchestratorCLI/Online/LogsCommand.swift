internal import Orchestrator
internal import Stoic

extension CommandRun {
    /// `logs`: the output of services as it was written, each line under the name of its service.
    func logs() throws(Failure) -> ExitCode {
        let access = try engineAccess()
        let client = try access.connect()
        var query: [(String, String)] = []
        if !invocation.arguments.isEmpty {
            query.append(("service", invocation.arguments.joined(separator: ",")))
        }
        query.append(("tail", String(invocation.count(.lines) ?? 100)))
        if invocation.has(.follow) { query.append(("follow", "1")) }
        if let text = invocation.text(.since) {
            guard let moment = Moment.nanoseconds(of: text, now: Moment.now) else {
                let expected = expectation(.moment)
                throw Failure(
                    UsageError.badOptionValue(.since, text, expected: expected, of: .logs))
            }
            query.append(("since", String(Double(moment) / 1e9)))
        }
        let console = console
        let view = LogView(invocation.arguments.isEmpty ? access.names : invocation.arguments)
        try lines(client, ["v1", "logs"], query, access) { line in
            console.answer(console.json ? line.description : view.text(line, console.style))
        }
        return .done
    }
}

/// Draws lines of output under the names of their services.
struct LogView {
    private let width: Int

    /// - Parameter names: Those that will occur, so that their column has one width.
    init(_ names: [String]) { width = min(24, names.map(displayWidth).max() ?? 0) }

    /// `web | text`. What a service wrote cannot draw on the terminal, colours included.
    func text(_ line: JSONValue, _ style: Style) -> String {
        let name = safeForTerminal(line["service"]?.string ?? "?")
        var text = line["text"]?.string ?? ""
        if style.isColored { text = safeForTerminal(text) }
        if line["continued"]?.bool == true { text = "…" + text }
        if line["cut"]?.bool == true { text += "… [cut]" }
        return style.paint(padded(name, to: width) + " |", color(name)) + " " + text
    }

    private func color(_ name: String) -> Style.Color {
        let palette: [Style.Color] = [.cyan, .yellow, .green, .magenta, .blue]
        let sum = name.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xffff }
        return palette[sum % palette.count]
    }
}
