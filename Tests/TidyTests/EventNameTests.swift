import Testing

@Suite("event names", .timeLimit(.minutes(10)))
struct EventNameTests {
    @Test("INS-4: docs/reference/events.md lists exactly the names the library reports")
    func namesAreListed() throws {
        let declared = Checkout.files
            .filter { $0.isUnder("Sources/Stoic", "Sources/StoicSubprocess") && $0.isSwift }
            .flatMap(Self.rows).sorted()
        let page = try #require(
            Checkout.files.first { $0.path == "docs/reference/events.md" },
            "docs/reference/events.md is missing")
        let listed = page.lines.filter { $0.hasPrefix("| `") }.map(String.init)
        let missing = Set(declared).subtracting(listed).sorted().joined(separator: "\n")
        let stale = Set(listed).subtracting(declared).sorted().joined(separator: "\n")
        #expect(missing.isEmpty, "add to the page:\n\(missing)")
        #expect(stale.isEmpty, "no longer reported, or described otherwise:\n\(stale)")
        #expect(listed == listed.sorted(), "the names are in alphabetical order")
    }

    /// The rows of the page that a file's declarations stand for: name, and what its comment says.
    private static func rows(of file: SourceFile) -> [String] {
        var comment: [Substring] = []
        var rows: [String] = []
        for line in file.lines {
            let text = line.drop { $0 == " " }
            if text.hasPrefix("///") {
                comment.append(text.dropFirst(3).drop { $0 == " " })
                continue
            }
            if let start = text.firstRange(of: " = EventName(\"") {
                let name = text[start.upperBound...].prefix { $0 != "\"" }
                rows.append("| `\(name)` | \(comment.joined(separator: " ")) |")
            }
            comment = []
        }
        return rows
    }
}
