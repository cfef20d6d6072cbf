extension Rule {
    static let documentation = Rule("documentation") { file in
        guard file.isSwift, file.isUnder("Sources") else { return [] }
        var findings: [Finding] = []
        var depth = 0
        var publicEnums: [Int] = []
        for (index, line) in file.code.enumerated() {
            let words = line.split(separator: " ").drop { $0.hasPrefix("@") }
            let isCase = words.first == "case" && publicEnums.last == depth
            let isPublic = words.first == "public" || words.first == "open"
            if isCase || isPublic && needsWords(words), !isDocumented(file, index) {
                let message = "public without a doc comment: meaning, units, bounds, errors"
                findings.append(
                    Finding(
                        rule: "documentation", path: file.path, line: index + 1, message: message))
            }
            depth += line.count { $0 == "{" }
            if isPublic, words.contains("enum"), line.contains("{") { publicEnums.append(depth) }
            depth -= line.count { $0 == "}" }
            while let last = publicEnums.last, last > depth { publicEnums.removeLast() }
        }
        return findings
    }

    /// What a protocol of the standard library defines has its meaning there.
    private static let defined = [
        "description:", "debugDescription:", "hash(into", "func ==", "func <", "func next()",
        "errorDescription:", "encode(to", "init(from", "func makeIterator",
    ]

    private static func needsWords(_ words: some Collection<Substring>) -> Bool {
        guard !words.contains("import"), !words.contains("extension") else { return false }
        let line = words.joined(separator: " ")
        return !defined.contains { line.contains($0) }
    }

    private static func isDocumented(_ file: SourceFile, _ index: Int) -> Bool {
        var above = index - 1
        while above >= 0 {
            let line = file.lines[above].drop { $0 == " " }
            if line.hasPrefix("///") { return true }
            guard line.hasPrefix("@") else { return false }
            above -= 1
        }
        return false
    }
}
