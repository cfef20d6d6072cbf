extension Rule {
    /// Nobody who reads `unsafe` must have to find out alone why it is right: who owns the memory,
    /// how long the pointer lives, why the C function may be called so.
    static let safety = Rule("safety") { file in
        guard file.isSwift, file.isUnder("Sources") else { return [] }
        let functions = FunctionScan.functions(in: file)
        return file.code.indices.filter {
            isUnsafe(file.code[$0]) && !isExplained(file, $0, functions)
        }.map {
            Finding(
                rule: "safety", path: file.path, line: $0 + 1,
                message: "unsafe without its reason: `// SAFETY: …` at the head of its function")
        }
    }

    /// `@unsafe` makes no use of anything: it warns those who call.
    private static func isUnsafe(_ line: Substring) -> Bool {
        line.ranges(of: "unsafe").contains { range in
            let before = line[..<range.lowerBound].last
            let after = line[range.upperBound...].first
            return before != "@" && !isPartOfWord(before) && !isPartOfWord(after)
        }
    }

    private static func isPartOfWord(_ character: Character?) -> Bool {
        character.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
    }

    /// Whether the reason stands before the line, in its function or above it. Outside of functions
    /// what belongs together has no empty line in it.
    private static func isExplained(
        _ file: SourceFile, _ index: Int, _ functions: [FunctionScan]
    ) -> Bool {
        let starts = functions.filter {
            ($0.line..<$0.line + $0.lineCount).contains(index + 1)
        }.map { $0.line - 1 }
        var first = starts.min() ?? index
        while first > 0 {
            let above = file.lines[first - 1].drop { $0 == " " }
            let belongs =
                starts.isEmpty
                ? !above.isEmpty : above.hasPrefix("//") || above.hasPrefix("@")
            guard belongs else { break }
            first -= 1
        }
        return file.lines[first...index].contains { $0.contains("// SAFETY: ") }
    }
}
