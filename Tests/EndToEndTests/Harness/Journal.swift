import Glibc
import Testing

/// One record of an engine's `events.jsonl`.
struct JournalEvent: CustomStringConvertible {
    let name: String
    let service: String?
    /// When, on the clock the puppets read too.
    let milliseconds: Int
    let message: String
    /// The whole record.
    let line: String

    /// `nil` for a line that is no record: a torn one, or the empty one before it.
    init?(_ line: some StringProtocol) {
        let line = String(line)
        guard let name = Self.text("name", in: line),
            let stamp = Self.rest(after: "monotonicNs", in: line)?.prefix(while: \.isNumber),
            let nanoseconds = Int(stamp)
        else { return nil }
        self.name = name
        self.line = line
        service = Self.text("service", in: line)
        message = Self.text("message", in: line) ?? ""
        milliseconds = nanoseconds / 1_000_000
    }

    var description: String { line }

    private static func rest(after key: String, in line: String) -> Substring? {
        let words = line.split(separator: "\"\(key)\":", maxSplits: 1)
        return words.count == 2 ? words[1] : nil
    }

    private static func text(_ key: String, in line: String) -> String? {
        guard let rest = rest(after: key, in: line), rest.first == "\"" else { return nil }
        var text = ""
        var isEscaped = false
        for character in rest.dropFirst() {
            if character == "\"", !isEscaped { break }
            isEscaped = character == "\\" && !isEscaped
            if !isEscaped { text.append(character) }
        }
        return text
    }
}

extension Bench {
    /// What every engine of the case wrote down, each in its order.
    var journal: [JournalEvent] {
        let files = Scratch.files(under: path("state"))
        let journals =
            files.filter { $0.hasSuffix("/events.jsonl.1") }
            + files.filter { $0.hasSuffix("/events.jsonl") }
        return journals.flatMap { file in
            (TextFile.read(file) ?? "").split(separator: "\n").compactMap { JournalEvent($0) }
        }
    }

    /// The records with this name about a service.
    func told(_ name: String, _ service: String) -> [JournalEvent] {
        journal.filter { $0.name == name && $0.service == service }
    }

    /// Decisions that must name the service and say why.
    private static let decisions: Set<String> = [
        "service.restartScheduled", "service.gaveUp", "service.failed", "service.killed",
        "service.abandoned", "service.needLost", "service.extensionRefused",
        "service.messageRefused", "service.mainRefused", "service.notReady",
    ]

    /// Every decision is an event with the service and the reason, and none is a defect.
    func checkDecisions() {
        let journal = journal
        var lastReason: [String: Bool] = [:]
        for event in journal {
            #expect(event.name != "defect", "\(event)")
            if Self.decisions.contains(event.name) {
                #expect(event.service != nil && !event.message.isEmpty, "no reason: \(event)")
            }
            guard let service = event.service else { continue }
            if event.name == "service.launching" {
                #expect(lastReason[service] ?? true, "launched again without a reason: \(event)")
                lastReason[service] = false
            } else if event.name != "service.launched" {
                lastReason[service] = true
            }
        }
        for name in Set(journal.filter { $0.name == "service.launching" }.compactMap(\.service)) {
            let launches = told("service.launching", name).count
            #expect(all(name, "start").count <= launches, "\(name) was started without an event")
        }
    }
}
