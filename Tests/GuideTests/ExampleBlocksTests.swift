import Glibc
import Testing

/// Every example of the guide and of the library's doc comments compiles.
@Suite("Examples in the text", .timeLimit(.minutes(20)))
struct ExampleBlocksTests {
    private static let pages =
        ["README.md"] + Build.files(under: "docs/guide", endingWith: ".md")
    private static let sources = Build.names(in: Build.root + "/Sources")
        .filter { $0.hasPrefix("Stoic") || $0 == "ServiceKit" }
        .flatMap { Build.files(under: "Sources/" + $0, endingWith: ".swift") }

    static func blocks() throws -> [Block] {
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

/// Links that lead somewhere.
@Suite("Links of the guide", .timeLimit(.minutes(5)))
struct GuideLinksTests {
    @Test("every relative link of the guide, the README and the examples leads to a file")
    func links() throws {
        let pages =
            ["README.md"] + Build.files(under: "docs/guide", endingWith: ".md")
            + Build.files(under: "examples", endingWith: ".md")
        for page in pages {
            let text = try Build.read("\(Build.root)/\(page)")
            let folder = page.split(separator: "/").dropLast().joined(separator: "/")
            for target in Self.targets(in: text) {
                let path = "\(Build.root)/\(folder)/\(target)"
                #expect(unsafe access(path, R_OK) == 0, "\(page) links to \(target)")
            }
        }
    }

    /// What stands in `](…)` and is neither an address nor a place in the same page.
    private static func targets(in text: String) -> [Substring] {
        text.ranges(of: "](").compactMap { range in
            let target = text[range.upperBound...].prefix { $0 != ")" && $0 != "#" }
            return target.isEmpty || target.contains("://") ? nil : target
        }
    }
}
