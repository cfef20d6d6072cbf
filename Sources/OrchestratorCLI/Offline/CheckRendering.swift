internal import Manifest
internal import Orchestrator
internal import Stoic

extension CheckReport {
    /// For people.
    func text(_ style: Style) -> String {
        let count = counted(services.count, "service")
        let odd = warningCount == 0 ? "no warnings" : counted(warningCount, "warning")
        var lines = ["\(safeForTerminal(file)): \(count), no errors, \(odd)", ""]
        lines += section(
            "longest start", style, one: (start.oneHangs.duration, names(start.oneHangs)),
            all: (start.allHang.duration, names(start.allHang)))
        lines += section(
            "longest stop", style, one: (stop.oneHangs.duration, names(stop.oneHangs)),
            all: (stop.allHang, stopRemark))
        if warningCount > 0 { lines.append("") }
        lines += diagnostics.map { safeForTerminal($0.description) }
        lines += warnings.map { style.paint("warning:", .yellow) + " " + safeForTerminal($0) }
        return lines.joined(separator: "\n")
    }

    private func section(
        _ title: String, _ style: Style, one: (Duration, String), all: (Duration, String)
    ) -> [String] {
        let durations = [humanDuration(one.0), humanDuration(all.0)]
        let width = durations.map(displayWidth).max() ?? 0
        let labels = ["  if one service hangs  ", "  if all hang           "]
        let remarks = [one.1, all.1]
        let rows = labels.indices.map { index in
            labels[index] + style.paint(padded(durations[index], to: width), .bold) + "  "
                + remarks[index]
        }
        return [title] + rows
    }

    private func names(_ path: TimedPath) -> String {
        guard !path.services.isEmpty else { return "nothing to do" }
        return shortened(path.services.map { safeForTerminal($0.text) }, separator: " → ")
    }

    private var stopRemark: String {
        let sum =
            stopOrder == .reverse
            ? "the stopTimeouts add up to " : "the longest path adds up to "
        guard stop.wanted.duration > exitBudget else {
            return sum + humanDuration(stop.wanted.duration)
        }
        return "exitBudget; " + sum + humanDuration(stop.wanted.duration)
    }

    /// For programs: one object.
    var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("file")
        writer.value(file)
        writer.key("services")
        writer.beginArray()
        for (service, duration) in zip(services, start.ofEach) {
            writer.beginObject()
            writer.key("name")
            writer.value(service.text)
            writer.key("longestStartMs")
            writer.value(wholeMilliseconds(duration))
            writer.endObject()
        }
        writer.endArray()
        writeCase("start", start.oneHangs, start.allHang, &writer)
        let all = TimedPath(services: stop.wanted.services, duration: stop.allHang)
        writeCase("stop", stop.oneHangs, all, &writer)
        writer.key("exitBudgetMs")
        writer.value(wholeMilliseconds(exitBudget))
        writer.key("stopTimeoutsMs")
        writer.value(wholeMilliseconds(stop.wanted.duration))
        writeWarnings(&writer)
        writer.endObject()
        return writer.text
    }

    private func writeCase(
        _ key: String, _ one: TimedPath, _ all: TimedPath, _ writer: inout JSONWriter
    ) {
        writer.key(key)
        writer.beginObject()
        for (name, path) in [("ifOneHangs", one), ("ifAllHang", all)] {
            writer.key(name)
            writer.beginObject()
            writer.key("ms")
            writer.value(wholeMilliseconds(path.duration))
            writer.key("services")
            writer.beginArray()
            for service in path.services { writer.value(service.text) }
            writer.endArray()
            writer.endObject()
        }
        writer.endObject()
    }

    private func writeWarnings(_ writer: inout JSONWriter) {
        writer.key("warnings")
        writer.beginArray()
        for diagnostic in diagnostics { diagnostic.write(to: &writer) }
        for warning in warnings {
            writer.beginObject()
            writer.key("severity")
            writer.value("warning")
            writer.key("message")
            writer.value(warning)
            writer.endObject()
        }
        writer.endArray()
    }
}

/// All of a few words; of many, the first three and the last two, and how many are left out.
func shortened(_ words: [String], separator: String) -> String {
    guard words.count > 8 else { return words.joined(separator: separator) }
    let left = words.count - 5
    return (words.prefix(3) + ["… \(left) more …"] + words.suffix(2)).joined(separator: separator)
}
