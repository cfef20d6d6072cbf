/// An example that readers will copy: a fenced block of Swift, where it stands, and what the page
/// gives for it.
struct Block: Sendable {
    /// Relative to the root of the project.
    let file: String
    /// Of its first line of code, from 1.
    let line: Int
    let code: [Substring]
    /// Declarations the page gives in a comment that readers do not see.
    let given: [Substring]

    /// Every example of a page: what stands between ```` ```swift ```` and ```` ``` ````. Blocks
    /// with another word (`swift-wrong`) show what not to write.
    ///
    /// A comment `<!-- given` … `-->` gives declarations to every later block of the page.
    static func inPage(_ file: String, _ text: String) -> [Block] {
        blocks(
            in: file,
            text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
                .map { ($0.offset + 1, $0.element) })
    }

    /// Every example in the doc comments of a source file.
    static func inComments(of file: String, _ text: String) -> [Block] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .compactMap { index, line -> (Int, Substring)? in
                let line = line.drop { $0 == " " }
                guard line.hasPrefix("///") else { return nil }
                let rest = line.dropFirst(3)
                return (index + 1, rest.hasPrefix(" ") ? rest.dropFirst() : rest)
            }
        return blocks(in: file, lines)
    }

    private static func blocks(in file: String, _ lines: [(Int, Substring)]) -> [Block] {
        enum Place {
            case text
            case given
            case code(from: Int, [Substring])
            case other
        }
        var place = Place.text
        var given: [Substring] = []
        var found: [Block] = []
        for (number, line) in lines {
            switch place {
            case .text:
                if line == "<!-- given" { place = .given }
                if line == "```swift" {
                    place = .code(from: number + 1, [])
                } else if line.hasPrefix("```") {
                    place = .other
                }
            case .given: if line == "-->" { place = .text } else { given.append(line) }
            case .other: if line == "```" { place = .text }
            case .code(let start, let code):
                guard line != "```" else {
                    found.append(Block(file: file, line: start, code: code, given: given))
                    place = .text
                    continue
                }
                place = .code(from: start, code + [line])
            }
        }
        return found
    }
}

extension Block {
    /// What a block may use that imports nothing itself.
    private static let usual = [
        "Stoic", "StoicProcess", "StoicLog", "StoicSubprocess", "StoicTesting", "ServiceKit",
        "Synchronization", "Testing", "Glibc",
    ]

    /// A source file of its own: the block as the body of a function, or at file scope where it
    /// declares what cannot stand in one. Errors name the page.
    func source(number: Int) -> String {
        let imports = code.filter { $0.hasPrefix("import ") }.map(String.init)
        // A module has one `@main`, and the examples have several.
        let body = code.map {
            $0.hasPrefix("import ") ? "" : String($0).replacing("@main ", with: "")
        }
        let marked =
            ["#sourceLocation(file: \"\(file)\", line: \(line))"] + body
            + ["#sourceLocation()"]
        let head = imports.isEmpty ? Self.usual.map { "import \($0)" } : imports + ["import Stoic"]
        let lines =
            needsFileScope
            ? head + given.map(String.init) + marked
            : head + ["func block\(number)() async throws {"] + given.map(String.init) + marked + [
                "}"
            ]
        return lines.joined(separator: "\n") + "\n"
    }

    private var needsFileScope: Bool {
        let starts = ["@main", "extension ", "protocol ", "@Suite", "@Test", "public "]
        return code.contains { line in starts.contains { line.hasPrefix($0) } }
    }
}
