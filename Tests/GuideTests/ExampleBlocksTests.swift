import Testing

/// Every example of the guide and of the library's doc comments compiles.
@Suite("Examples in the text", .timeLimit(.minutes(20)))
struct ExampleBlocksTests {
    private static let pages =
        ["README.md"] + Build.files(under: "docs/guide", endingWith: ".md")
    private static let sources = Build.names(in: Build.root + "/Sources")
        .filter { $0.hasPrefix("Stoic") || $0 == "ServiceKit" }
        .flatMap { Build.files(under: "Sources/" + $0, endingWith: ".swift") }

    private static func blocks() throws -> [Block] {
        try pages.flatMap { Block.inPage($0, try Build.read("\(Build.root)/\($0)")) }
            + sources.flatMap { Block.inComments(of: $0, try Build.read("\(Build.root)/\($0)")) }
    }

    private static func complaints(about blocks: [Block]) throws -> String {
        let given = try Build.read(Build.root + "/Tests/GuideTests/Given/Given.swift")
        let files = blocks.enumerated().map { number, block in
            (name: "block\(number).swift", text: block.source(number: number))
        }
        return try SwiftCompiler.complaints(about: [(name: "Given.swift", text: given)] + files)
    }

    @Test("every example of the guide, the README and the library's comments compiles")
    func all() throws {
        let blocks = try Self.blocks()
        #expect(blocks.count >= 60, "only \(blocks.count) examples were found")
        let complaints = try Self.complaints(about: blocks)
        let errors = complaints.split(separator: "\n").filter { $0.contains(": error: ") }
        #expect(
            complaints.isEmpty,
            "\(errors.joined(separator: "\n"))\n\n\(complaints.prefix(20_000))")
    }

    @Test("a bad example is seen, with its page and line")
    func planted() throws {
        let page = """
            # A page

            ```swift
            let limit = Duration.seconds(1)
            let text: String = limit
            ```
            """
        let bad = try Self.complaints(about: Block.inPage("docs/guide/planted.md", page))
        #expect(bad.contains("docs/guide/planted.md:5:20: error:"), "\(bad)")
        let comment = """
            /// Says.
            /// ```swift
            /// try await withTimeout(.seconds(1)) { undeclared() }
            /// ```
            public func say() {}
            """
        let worse = try Self.complaints(about: Block.inComments(of: "Sources/X.swift", comment))
        #expect(worse.contains("Sources/X.swift:3:"), "\(worse)")
    }

    @Test("what is marked as wrong, and other languages, are no examples")
    func others() {
        let page = """
            ```swift-wrong
            Task { await leak() }
            ```
            ```c
            int x;
            ```
            <!-- given
            let one = 1
            -->
            ```swift
            let two = one + 1
            ```
            """
        let blocks = Block.inPage("p.md", page)
        #expect(blocks.map(\.code) == [["let two = one + 1"]])
        #expect(blocks.first?.line == 11)
        #expect(blocks.first?.given == ["let one = 1"])
    }
}
