import Glibc
internal import Orchestrator
internal import Stoic

extension CommandRun {
    /// `logs`: the output of services as it was written, each line under the name of its service.
    /// When nothing runs, what earlier runs left on disk.
    func logs() throws(Failure) -> ExitCode {
        let access = try engineAccess()
        let since = try logsBegin()
        guard let client = try access.connectPatiently() ?? access.connectByFile() else {
            return try storedLogs(access, since: since)
        }
        var query: [(String, String)] = []
        if !invocation.arguments.isEmpty {
            query.append(("service", invocation.arguments.joined(separator: ",")))
        }
        if let count = logsCount(since) { query.append(("tail", String(count))) }
        if invocation.has(.follow) { query.append(("follow", "1")) }
        if let since { query.append(("since", String(Double(since) / 1e9))) }
        let console = console
        let view = logView(access)
        try lines(client, ["v1", "logs"], query, access) { line in
            if console.json {
                console.answer(line.description)
            } else {
                console.answer(bytes: view.bytes(of: line))
            }
        }
        return .done
    }

    private func storedLogs(_ access: EngineAccess, since: Int64?) throws(Failure) -> ExitCode {
        let stored = try access.storedLogs(invocation.arguments)
        let count = logsCount(since)
        let start = since.map { LogReader.Start.since($0) }
        let found = StoredLog.lines(
            of: stored, start ?? .last(count ?? StoredLog.mostLines),
            atMost: count ?? StoredLog.mostLines)
        guard !found.lines.isEmpty else { throw access.nothingRuns }
        for words in found.failures { console.note(safeForTerminal(words)) }
        let view = logView(access)
        for line in found.lines {
            if console.json {
                var writer = JSONWriter()
                line.write(to: &writer)
                console.answer(writer.text)
            } else {
                console.answer(bytes: view.bytes(of: line))
            }
        }
        // There is nothing to follow, and a script that waits for more has to hear that.
        guard !invocation.has(.follow) else { throw access.nothingRuns }
        if !console.json { console.note("(nothing runs: these lines are of earlier runs)") }
        return .done
    }

    /// What `--since` says, in nanoseconds since 1970.
    private func logsBegin() throws(Failure) -> Int64? {
        guard let text = invocation.text(.since) else { return nil }
        guard let moment = Moment.nanoseconds(of: text, now: Moment.now) else {
            let expected = expectation(.moment)
            throw Failure(UsageError.badOptionValue(.since, text, expected: expected, of: .logs))
        }
        return moment
    }

    /// The last so many lines: what was asked for, or 100 where nothing says where to begin.
    private func logsCount(_ since: Int64?) -> Int? {
        invocation.count(.lines) ?? (since == nil ? 100 : nil)
    }

    private func logView(_ access: EngineAccess) -> LogView {
        LogView(
            invocation.arguments.isEmpty ? access.names : invocation.arguments,
            OutputRenderer.Style(
                isTerminal: console.colorsOutput || isatty(STDOUT_FILENO) == 1,
                hasColor: console.colorsOutput, hasTime: invocation.has(.timestamps)))
    }
}

/// Draws lines of output as the foreground does, each under the name of its service.
struct LogView {
    private let renderer: OutputRenderer

    /// - Parameter names: Those that will occur, so that their column has one width.
    init(_ names: [String], _ style: OutputRenderer.Style) {
        renderer = OutputRenderer(style, names: names.map { ServiceName($0) })
    }

    /// The line with its newline.
    func bytes(of line: LogLine) -> [UInt8] { renderer.render(line) }

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
