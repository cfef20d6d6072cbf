internal import Manifest
internal import Orchestrator
internal import Simulation
internal import Stoic

/// What one run of a simulation showed.
struct SimulationReport {
    private let file: String
    private let exitBudget: Duration
    private let seed: UInt64
    private let result: ScenarioResult
    private let rows: [Row]
    private let states: [StateSummary]

    /// A line of the timeline.
    private struct Row {
        let at: Duration
        let entry: SimulatedHost.Entry?
        let level: EventLevel
        let text: String
    }

    init(_ project: ProjectDefinition, _ scenario: Scenario, _ result: ScenarioResult) {
        file = project.file
        exitBudget = project.exitBudget
        seed = scenario.seed
        self.result = result
        let machine = result.machine
        states = machine.services.map { StateSummary($0, machine) }
        let narrator = Narrator { machine.spec(of: $0).name.text }
        var rows = result.journal.prefix(result.watched).compactMap { entry -> Row? in
            let words = narrator.words(
                entry.decision.what, entry.service?.text ?? "the project")
            guard words.level > .debug else { return nil }
            let at = entry.at.boot - SimulatedHost.begin.boot
            return Row(at: at, entry: entry, level: words.level, text: words.text)
        }
        // What befell it stands before what followed from it.
        for incident in scenario.incidents.sorted(by: { $0.at < $1.at })
        where incident.at > .zero && incident.at <= result.end {
            let row = Row(at: incident.at, entry: nil, level: .notice, text: incident.option)
            let place = rows.firstIndex { $0.at >= incident.at && $0.entry != nil }
            rows.insert(row, at: place ?? rows.endIndex)
        }
        self.rows = rows
    }

    /// What `up` would exit with.
    private var exitCode: ExitCode {
        result.outcome.map { ExitCode(of: $0) } ?? .defect
    }

    // MARK: For people

    /// Rows beyond these are left out: the first and the last say most.
    static let mostRows = (first: 400, last: 100)

    /// The timeline, the states at its end, and how long start and stop took.
    func text(_ style: Style) -> String {
        let count = counted(states.count, "service")
        var lines = ["\(safeForTerminal(file)): \(count), simulated with seed \(seed)", ""]
        let left = rows.count - Self.mostRows.first - Self.mostRows.last
        if left > 0 {
            lines += rows.prefix(Self.mostRows.first).map { line($0, style) }
            lines.append(style.paint("… \(left) more lines; --json has them all …", .faint))
            lines += rows.suffix(Self.mostRows.last).map { line($0, style) }
        } else {
            lines += rows.map { line($0, style) }
        }
        lines += ["", ending + ":", "", table(style), "", startWords, stopWords]
        lines.append("exit:  `up` would exit with \(exitCode.number)")
        return lines.joined(separator: "\n")
    }

    private func line(_ row: Row, _ style: Style) -> String {
        let time = style.paint(padded(clock(row.at), to: 10), .faint)
        let text = safeForTerminal(row.text)
        guard row.entry != nil else { return time + style.paint("* " + text, .cyan) }
        switch row.level {
        case .debug, .info, .notice: return time + text
        case .warning: return time + style.paint(text, .yellow)
        case .error: return time + style.paint(text, .red)
        }
    }

    private var ending: String {
        let time = clock(result.end)
        if case .ended = result.machine.phase { return "at \(time) the project had ended" }
        return result.isBusy
            ? "at \(time) it would go on" : "at \(time) nothing more was to come"
    }

    private func table(_ style: Style) -> String {
        var table = TextTable(["SERVICE", "STATE", "REASON"])
        for state in states {
            table.add([
                .init(state.name, .bold), .init(state.health ?? state.state),
                .init(state.reason ?? ""),
            ])
        }
        return table.text(style)
    }

    private var startWords: String {
        guard let start = result.start else { return "start: it never was fully up" }
        return "start: everything was up after \(humanDuration(start))"
    }

    private var stopWords: String {
        guard let stop = result.stop else { return "stop:  it never ended" }
        let names = abandoned
        let left = names.isEmpty ? "" : "; outlived it: \(names.joined(separator: ", "))"
        return "stop:  everything was gone after \(humanDuration(stop)) of the exitBudget of "
            + humanDuration(exitBudget) + left
    }

    private var abandoned: [String] {
        result.outcome?.abandoned.map { result.machine.spec(of: $0).name.text } ?? []
    }

    // MARK: For programs

    /// One object.
    var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("file")
        writer.value(file)
        writer.key("seed")
        writer.value(seed)
        writeTimeline(&writer)
        writer.key("endMs")
        writer.value(wholeMilliseconds(result.end))
        writer.key("goesOn")
        writer.value(result.isBusy)
        writer.key("services")
        writer.beginArray()
        for state in states { state.write(to: &writer) }
        writer.endArray()
        writer.key("startMs")
        writer.value(result.start.map(wholeMilliseconds))
        writer.key("stopMs")
        writer.value(result.stop.map(wholeMilliseconds))
        writer.key("abandoned")
        writer.beginArray()
        for name in abandoned { writer.value(name) }
        writer.endArray()
        writer.key("upExitCode")
        writer.value(Int(exitCode.number))
        writer.endObject()
        return writer.text
    }

    private func writeTimeline(_ writer: inout JSONWriter) {
        writer.key("timeline")
        writer.beginArray()
        for row in rows {
            writer.beginObject()
            writer.key("atMs")
            writer.value(wholeMilliseconds(row.at))
            if let entry = row.entry {
                writer.key("id")
                writer.value(entry.decision.id.number)
                writer.key("cause")
                writer.value(entry.decision.cause?.number)
                writer.key("name")
                writer.value(entry.decision.what.name)
                writer.key("service")
                writer.value(entry.service?.text)
            } else {
                writer.key("name")
                writer.value("simulation.incident")
            }
            writer.key("level")
            writer.value(row.level.rawValue)
            writer.key("message")
            writer.value(row.text)
            writer.endObject()
        }
        writer.endArray()
    }
}

extension StateSummary {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("name")
        writer.value(name)
        writer.key("state")
        writer.value(state)
        writer.key("health")
        writer.value(health)
        writer.key("reason")
        writer.value(reason)
        writer.endObject()
    }
}

/// A moment of a simulation: minutes, seconds and milliseconds, `1:05.250`.
func clock(_ time: Duration) -> String {
    let milliseconds = wholeMilliseconds(time)
    let (minutes, seconds) = (milliseconds / 60_000, milliseconds / 1_000 % 60)
    let rest = String(milliseconds % 1_000)
    return "\(minutes):\(seconds < 10 ? "0" : "")\(seconds)."
        + String(repeating: "0", count: 3 - rest.count) + rest
}
