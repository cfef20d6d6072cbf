internal import Orchestrator

extension CommandRun {
    /// The verbs that ask the engine for a change and follow it to its end: `down`, `start`,
    /// `stop`, `restart`, `signal`, `reload`, `plan`.
    func change() throws(Failure) -> ExitCode {
        let access = try engineAccess()
        let code = try follow(EngineCall(invocation), of: access, on: access.connect())
        if case .down = invocation.verb, invocation.arguments.isEmpty { access.waitForEnd() }
        return code
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
        if let other = access.otherFile(client) {
            console.note(
                "warning: the project of this name runs from \(safeForTerminal(other)); "
                    + "that is what is meant here")
        }
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
                } else {
                    for change in PlanView(line).lines { console.answer(change) }
                }
            }
        } catch {
            throw Failure(error)
        }
        guard response.isSuccess, response.failure == nil else {
            throw Failure(response, names: access.names, asked: asked)
        }
        // A plan is answered at once, and nothing was done that could have failed.
        if case .plan = invocation.verb, response.body?["result"] == nil {
            return show(PlanView(response.body), response.body)
        }
        return try conclude(EngineResult(response.body))
    }

    private func show(_ plan: PlanView, _ body: JSONValue?) -> ExitCode {
        guard !console.json else {
            console.answer((body ?? [:]).description)
            return .done
        }
        for line in plan.lines { console.answer(line) }
        if plan.lines.isEmpty { console.answer("nothing would change") }
        return .done
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
        message = result?["message"]?.string.map { text in
            // The last lines of a service's output stand below what failed.
            text.split(separator: "\n", omittingEmptySubsequences: false)
                .map { safeForTerminal(String($0)) }.joined(separator: "\n")
        }
        lines =
            PlanView(result).lines + (result?["survivors"]?.array ?? []).map(Self.survivor)
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

/// What a changed config means, a line for each service; warnings of the config before.
struct PlanView: Hashable, Sendable {
    /// `+ web: added`, `~ api: relaunched (it needs db)`, `- old: removed`.
    var lines: [String]

    /// - Parameter body: An object with `changes` and `warnings`; anything else is no plan.
    init(_ body: JSONValue?) {
        let warnings = (body?["warnings"]?.array ?? []).compactMap(\.string)
        lines =
            warnings.map(safeForTerminal) + (body?["changes"]?.array ?? []).map(Self.line)
    }

    private static func line(_ change: JSONValue) -> String {
        let word = change["change"]?.string ?? "changed"
        let mark =
            switch word {
            case "added": "+"
            case "removed": "-"
            default: "~"
            }
        let reason = change["because"]?.string.map { " (\($0))" } ?? ""
        return safeForTerminal("\(mark) \(change["service"]?.string ?? "?"): \(word)\(reason)")
    }
}
