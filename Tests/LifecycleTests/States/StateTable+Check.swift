import Testing

@testable import Stoic

extension StateTable {
    /// Sends every kind of event to this state and compares the answers with `table`.
    ///
    /// A row lists events, a colon, and what each of them leads to: `=` when the state stays, else
    /// the new state (of a stop: its rung and what follows it), then the verdicts about `s` and the
    /// project. A row goes on in indented lines. Every kind of event stands in exactly one row.
    func check(_ table: String, sourceLocation: SourceLocation = #_sourceLocation) {
        var expected: [EventKind: String] = [:]
        for row in Self.rows(of: table) {
            let parts = row.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let answer = parts.last?.split(separator: " ").joined(separator: " ") ?? ""
            for word in parts[0].split(separator: " ") {
                guard let kind = EventKind(rawValue: String(word)) else {
                    Issue.record("no event \(word)", sourceLocation: sourceLocation)
                    continue
                }
                let isNew = expected.updateValue(answer, forKey: kind) == nil
                #expect(isNew, "\(kind) stands twice", sourceLocation: sourceLocation)
            }
        }
        for kind in EventKind.allCases {
            var copy = self
            let answer = copy.answer(to: kind)
            #expect(expected[kind] == answer, "\(kind)", sourceLocation: sourceLocation)
        }
    }

    private static func rows(of table: String) -> [String] {
        var rows: [String] = []
        for line in table.split(separator: "\n") {
            if line.hasPrefix(" "), let last = rows.popLast() {
                rows.append(last + line)
            } else {
                rows.append(String(line))
            }
        }
        return rows
    }
}
