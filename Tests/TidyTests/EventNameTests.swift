import Testing

@Suite("event names", .timeLimit(.minutes(1)))
struct EventNameTests {
    @Test("INS-4: docs/reference/events.md lists exactly the names the library reports")
    func namesAreListed() throws {
        let sources = Checkout.files.filter { $0.isUnder("Sources/Stoic") && $0.isSwift }
        var declared: Set<String> = []
        for file in sources {
            for line in file.lines {
                guard let start = line.firstRange(of: "= EventName(\"") else { continue }
                declared.insert(String(line[start.upperBound...].prefix { $0 != "\"" }))
            }
        }
        declared.insert("instrumentation.dropped")
        let page = try #require(
            Checkout.files.first { $0.path == "docs/reference/events.md" },
            "docs/reference/events.md is missing")
        let listed = page.lines.filter { $0.hasPrefix("| `") }.compactMap { line in
            line.split(separator: "`").dropFirst().first.map(String.init)
        }
        #expect(Set(listed) == declared)
        #expect(listed.count == Set(listed).count, "a name is listed twice")
    }
}
