import Manifest
import Orchestrator
import Stoic

/// How the foreground shows a line of output and an event.
struct ForegroundView {
    private let isJSON: Bool
    private let hasColor: Bool
    private let output: OutputRenderer
    private let events: OutputRenderer

    /// What our own lines are called beside those of services.
    private static let ownName = ServiceName("orchestrator")

    init(_ project: ProjectDefinition, _ options: UpOptions, isTerminal: Bool) {
        isJSON = options.isJSON
        hasColor = options.isColored
        let style = OutputRenderer.Style(
            isTerminal: isTerminal, hasColor: options.isColored, hasTime: true)
        let names = project.services.map(\.spec.name) + [Self.ownName]
        output = OutputRenderer(style, names: names)
        events = output
    }

    func bytes(of line: LogLine) -> [UInt8] {
        guard isJSON else { return output.render(line) }
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("line")
        line.write(to: &writer)
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    func bytes(of record: EventRecord) -> [UInt8] {
        guard !isJSON else {
            var writer = JSONWriter()
            writer.beginObject()
            writer.key("event")
            record.write(to: &writer)
            writer.endObject()
            return writer.bytes + [UInt8(ascii: "\n")]
        }
        return events.render(
            LogLine(record.message, of: Self.ownName, wall: record.wallNanoseconds))
    }
}
