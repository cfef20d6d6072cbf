internal import Orchestrator

extension CommandRun {
    /// `events`: what was decided, from the beginning the engine remembers or a given one. When
    /// nothing runs, what the latest run left on disk.
    func events() throws(Failure) -> ExitCode {
        let access = try engineAccess()
        guard let client = try access.connectPatiently() ?? access.connectByFile() else {
            return try storedEvents(access)
        }
        var query: [(String, String)] = []
        if invocation.has(.follow) { query.append(("follow", "1")) }
        if let id = invocation.count(.since) { query.append(("since", String(id))) }
        try lines(client, ["v1", "events"], query, access, show)
        return .done
    }

    private func storedEvents(_ access: EngineAccess) throws(Failure) -> ExitCode {
        let since = Int64(invocation.count(.since) ?? 0)
        for event in try access.storedEvents() {
            let level = event["level"]?.string.flatMap(EventLevel.init(rawValue:)) ?? .info
            if level >= .info, event["id"]?.integer ?? 0 > since { show(event) }
        }
        // There is nothing to follow, and a script that waits for more has to hear that.
        guard !invocation.has(.follow) else { throw access.nothingRuns }
        noteEarlierRun()
        return .done
    }

    private func show(_ event: JSONValue) {
        console.answer(console.json ? event.description : EventLine(event).text(console.style))
    }

    private func noteEarlierRun() {
        if !console.json { console.note("(nothing runs: these events are of the latest run)") }
    }

    /// `why`: the events that led to the last one about a service.
    func why() throws(Failure) -> ExitCode {
        let access = try engineAccess()
        let name = invocation.arguments.first ?? ""
        var events: [JSONValue] = []
        let client = try access.connectPatiently() ?? access.connectByFile()
        if let client {
            // The ordinary events hide some of their causes, which are there all the same.
            try lines(client, ["v1", "events"], [("level", "debug")], access) { events.append($0) }
        } else {
            events = try access.storedEvents()
        }
        let chain = CauseChain.of(name, in: events)
        if chain.isEmpty {
            guard access.names.contains(name) else { throw unknownService(name, access.names) }
            throw Failure(.nothingRuns, "no event about \(quoted(name)) is remembered")
        }
        for event in chain { show(event) }
        if client == nil { noteEarlierRun() }
        return .done
    }

    /// Hands over every element of an answer: the lines of a stream, or the members of an array.
    /// `{"lost":N}` stands where a slow reader lost lines.
    func lines(
        _ client: ControlClient, _ path: [String], _ query: [(String, String)],
        _ access: EngineAccess, _ onElement: (JSONValue) -> Void
    ) throws(Failure) {
        let console = console
        let target = keyValues(query)
        var streamed = false
        let response: ControlResponse
        do {
            response = try client.stream("GET", path, query: target) { line in
                streamed = true
                if let lost = line["lost"]?.integer, line.object?.members.count == 1 {
                    console.note("(\(lost) lines lost: this program reads too slowly)")
                } else if line["error"] == nil {
                    onElement(line["event"] ?? line)
                }
            }
        } catch {
            throw Failure(error)
        }
        // Whoever follows a project sees its end, too.
        if response.isSuccess, response.failure?.code == "ending" { return }
        guard response.isSuccess, response.failure == nil else {
            throw Failure(response, names: access.names, asked: invocation.arguments)
        }
        guard !streamed else { return }
        let list = response.body?["events"] ?? response.body?["lines"] ?? response.body
        for element in list?.array ?? [] { onElement(element) }
    }
}

/// A name nobody has.
func unknownService(_ name: String, _ names: [String]) -> Failure {
    let near = nearest(to: name, among: names)
    return Failure(
        .usage,
        "no service \(quoted(name))" + (near.map { " (did you mean \(quoted($0))?)" } ?? ""),
        hint: near == nil && !names.isEmpty
            ? "Services: \(shortened(names, separator: ", "))" : nil)
}

/// The type the client takes can only be written out, so each length is.
private func keyValues(_ pairs: [(String, String)]) -> KeyValuePairs<String, String> {
    switch pairs.count {
    case 0: [:]
    case 1: [pairs[0].0: pairs[0].1]
    case 2: [pairs[0].0: pairs[0].1, pairs[1].0: pairs[1].1]
    case 3: [pairs[0].0: pairs[0].1, pairs[1].0: pairs[1].1, pairs[2].0: pairs[2].1]
    default:
        [
            pairs[0].0: pairs[0].1, pairs[1].0: pairs[1].1, pairs[2].0: pairs[2].1,
            pairs[3].0: pairs[3].1,
        ]
    }
}
