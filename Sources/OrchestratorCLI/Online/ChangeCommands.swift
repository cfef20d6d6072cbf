internal import Orchestrator

extension CommandRun {
    /// The verbs that ask the engine for a change and follow it to its end: `down`, `start`, `stop`,
    /// `restart`, `signal`, `reload`, `plan`.
    func change() throws(Failure) -> ExitCode {
        let access = try engineAccess()
        return try follow(EngineCall(invocation), of: access, on: access.connect())
    }

    /// The engine of the project that was named.
    func engineAccess() throws(Failure) -> EngineAccess {
        try EngineAccess(file: try configFile(), environment: environment)
    }

    /// Sends a request, shows what happens meanwhile, and answers with the engine's own verdict.
    ///
    /// The engine bounds the wait: a stop by `exitBudget`, a start by its limits. Ctrl-C ends this
    /// program only; what was asked for goes on.
    func follow(
        _ call: EngineCall, of access: EngineAccess, on client: ControlClient
    ) throws(Failure) -> ExitCode {
        let console = console
        var asked = invocation.arguments
        if let name = invocation.text(.service) { asked.append(name) }
        if case .signal = invocation.verb { asked = Array(asked.prefix(1)) }
        // The first line comes when there is something to tell, which may be at the end.
        client.limits.answer = client.limits.line
        let response: ControlResponse
        do {
            response = try client.stream(call.method, ["v1"] + call.path, body: call.body) { line in
                if console.json {
                    console.answer(line.description)
                } else if let event = line["event"] {
                    console.note(EventLine(event).text(console.errorStyle))
                }
            }
        } catch {
            throw Failure(error)
        }
        guard response.isSuccess, response.failure == nil else {
            throw Failure(response, names: access.names, asked: asked)
        }
        return try conclude(EngineResult(response.body))
    }

    private func conclude(_ result: EngineResult) throws(Failure) -> ExitCode {
        if console.json { return result.code }
        for line in result.lines { console.answer(line) }
        guard result.code == .done else {
            throw Failure(result.code, result.message ?? safeForTerminal(result.code.meaning))
        }
        if let message = result.message { console.answer(message) }
        return .done
    }
}

/// The last line of an answer: `{"result":{"exitCode":0,"message":…}}`.
struct EngineResult: Hashable, Sendable {
    /// What the program exits with.
    var code: ExitCode
    /// The verdict in a sentence.
    var message: String?
    /// The particulars: survivors, changes of a plan.
    var lines: [String]

    /// - Parameter body: The last line. One without a result is an engine of another kind.
    init(_ body: JSONValue?) {
        let result = body?["result"]
        guard let number = result?["exitCode"]?.integer else {
            code = .defect
            message = "the engine's answer has no exit code"
            lines = []
            return
        }
        code = ExitCode(number: Int32(truncatingIfNeeded: number))
        message = result?["message"]?.string.map(safeForTerminal)
        lines =
            (result?["changes"]?.array ?? []).map(Self.change)
            + (result?["survivors"]?.array ?? []).map(Self.survivor)
    }

    /// `+ web: new`, `~ web: restart (environment.PORT)`, `- old: removed`.
    private static func change(_ change: JSONValue) -> String {
        let action = change["action"]?.string ?? "change"
        let mark =
            switch action {
            case "add", "start": "+"
            case "remove", "stop": "-"
            case "keep", "none": "="
            default: "~"
            }
        let reason = change["reason"]?.string.map { " (\($0))" } ?? ""
        let name = change["service"]?.string ?? "?"
        return safeForTerminal("\(mark) \(name): \(action)\(reason)")
    }

    /// `survivor: api (pid 412, node server.js)`.
    private static func survivor(_ survivor: JSONValue) -> String {
        if let text = survivor.string { return safeForTerminal("survivor: \(text)") }
        let particulars = [
            survivor["pid"]?.integer.map { "pid \($0)" }, survivor["command"]?.string,
        ].compactMap { $0 }
        let inside = particulars.isEmpty ? "" : " (\(particulars.joined(separator: ", ")))"
        return safeForTerminal("survivor: \(survivor["service"]?.string ?? "?")\(inside)")
    }
}
