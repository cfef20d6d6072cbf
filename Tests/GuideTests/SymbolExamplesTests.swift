import Testing

/// Every public symbol of the library is used in an example that compiles.
@Suite("Examples of symbols", .timeLimit(.minutes(5)))
struct SymbolExamplesTests {
    @Test("every public symbol of the library stands in an example that compiles")
    func all() throws {
        let examples = Self.words(in: try ExampleBlocksTests.blocks())
        let recorded = Build.files(under: "docs/api", endingWith: ".txt")
        #expect(recorded.count == 6)
        for file in recorded {
            let symbols = Self.symbols(in: try Build.read("\(Build.root)/\(file)"))
            #expect(!symbols.isEmpty, "\(file) names no symbol")
            let missing = symbols.filter { !examples.contains($0.word) }
            #expect(
                missing.isEmpty,
                "of \(file), no example uses \(missing.map(\.name).joined(separator: ", "))")
        }
    }

    @Test("a symbol that no example uses is seen")
    func planted() {
        let interface = """
            # The public interface of Shop. Written by hand.
            Shop | conforms to Swift.Sendable
            Shop | struct Shop
            Shop.<(_:_:) | static func < (left: Shop, right: Shop) -> Bool
            Shop.init(named:) | init(named: String)
            Shop.close(after:) | func close(after delay: Duration)
            """
        let page = "```swift\nlet shop = Shop(named: \"corner\")\nshop.closeAll()\n```"
        let examples = Self.words(in: Block.inPage("p.md", page))
        let missing = Self.symbols(in: interface).filter { !examples.contains($0.word) }
        #expect(missing.map(\.name) == ["Shop.close(after:)"])
    }

    /// A symbol, and the word by which code that uses it names it.
    private struct Symbol {
        let name: Substring
        let word: Substring
    }

    /// The symbols of a recorded interface, without conformances and operators.
    private static func symbols(in interface: String) -> [Symbol] {
        interface.split(separator: "\n").compactMap { line in
            guard let bar = line.firstRange(of: " | "), !line.hasPrefix("#"),
                !line[bar.upperBound...].hasPrefix("conforms to ")
            else { return nil }
            let name = line[..<bar.lowerBound]
            let parts = name.prefix { $0 != "(" }.split(separator: ".")
            // An initializer is called by the name of its type.
            let word = parts.last == "init" ? parts.dropLast().last : parts.last
            guard let word, word.allSatisfy(isPartOfWord) else { return nil }
            return Symbol(name: name, word: word)
        }
    }

    private static func words(in blocks: [Block]) -> Set<Substring> {
        Set(blocks.flatMap(\.code).flatMap { $0.split { !isPartOfWord($0) } })
    }

    private static func isPartOfWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }
}
