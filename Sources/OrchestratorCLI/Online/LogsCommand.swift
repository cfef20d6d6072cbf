import Glibc
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
        let view = LogView(
            invocation.arguments.isEmpty ? access.names : invocation.arguments,
            OutputRenderer.Style(
                isTerminal: console.colorsOutput || isatty(STDOUT_FILENO) == 1,
                hasColor: console.colorsOutput))
        try lines(client, ["v1", "logs"], query, access) { line in
            if console.json {
                console.answer(line.description)
            } else {
                console.answer(bytes: view.bytes(of: line))
            }
        }
        return .done
    }
}

/// Draws lines of output as the foreground does, each under the name of its service.
struct LogView {
    private let renderer: OutputRenderer

    /// - Parameter names: Those that will occur, so that their column has one width.
    init(_ names: [String], _ style: OutputRenderer.Style) {
        renderer = OutputRenderer(style, names: names.map { ServiceName($0) })
    }

    /// The line with its newline; see `LogLine.write(to:)` for the members.
    func bytes(of line: JSONValue) -> [UInt8] {
        var drawn = LogLine(
            line["text"]?.string ?? "", of: ServiceName(line["service"]?.string ?? "?"),
            wall: line["wallNs"]?.integer ?? 0)
        drawn.isCut = line["cut"]?.bool ?? false
        drawn.isContinued = line["continued"]?.bool ?? false
        return renderer.render(drawn)
    }
}
