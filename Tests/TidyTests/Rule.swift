import Testing

/// One house rule: what it looks at and what it finds there.
struct Rule: Sendable, CustomTestStringConvertible {
    /// How exceptions name it.
    let name: String
    /// What it has against one file.
    let check: @Sendable (SourceFile) -> [Finding]

    init(_ name: String, check: @escaping @Sendable (SourceFile) -> [Finding]) {
        self.name = name
        self.check = check
    }

    /// A rule that looks at one line at a time.
    static func lines(
        _ name: String, _ check: @escaping @Sendable (SourceFile, Int) -> String?
    ) -> Rule {
        Rule(name) { file in
            file.lines.indices.compactMap { index in
                check(file, index).map {
                    Finding(rule: name, path: file.path, line: index + 1, message: $0)
                }
            }
        }
    }

    var testDescription: String { name }

    /// Every rule that judges a file by itself.
    static let all: [Rule] =
        [
            lineLength, fileLength, functionShape, moduleNames, imports, documentation, timeLimits,
            changelog, scripts, ownPaths, engineIsSynchronous, contractHeadings,
            contractEvents, safety,
        ] + bans
}
