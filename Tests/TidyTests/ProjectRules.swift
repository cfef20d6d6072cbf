extension Rule {
    static let timeLimits = Rule.lines("time-limits") { file, index in
        guard file.isSwift, file.isUnder("Tests") else { return nil }
        let line = file.code[index].drop { $0 == " " }
        guard line.hasPrefix("@Suite") else { return nil }
        var declaration = ""
        for later in file.code[index...].prefix(8) {
            declaration += later
            if later.contains("{") { break }
        }
        guard !declaration.contains(".timeLimit(") else { return nil }
        return "a suite without a bound: @Suite(\"…\", .timeLimit(.minutes(1)))"
    }

    static let changelog = Rule("changelog") { file in
        guard file.path == "CHANGELOG.md" else { return [] }
        var messages: [(Int, String)] = []
        if file.lines.first != "# Changelog" { messages.append((1, "begins with `# Changelog`")) }
        let sections = file.lines.indices.filter { file.lines[$0].hasPrefix("## ") }
        if sections.first.map({ file.lines[$0] }) != "## Unreleased" {
            messages.append((sections.first.map { $0 + 1 } ?? 1, "first section: `## Unreleased`"))
        }
        for index in sections.dropFirst() where !isRelease(file.lines[index].dropFirst(3)) {
            messages.append((index + 1, "a release reads `## 1.2.3, 2026-01-31`"))
        }
        for (index, line) in file.lines.enumerated().dropFirst() where !isEntry(line) {
            messages.append((index + 1, "an entry begins with `- ` and goes on indented by two"))
        }
        return messages.map {
            Finding(rule: "changelog", path: file.path, line: $0.0, message: $0.1)
        }
    }

    private static func isEntry(_ line: Substring) -> Bool {
        line.isEmpty || ["## ", "### ", "- ", "  "].contains { line.hasPrefix($0) }
    }

    private static func isRelease(_ title: Substring) -> Bool {
        let parts = title.split(separator: ", ", maxSplits: 1)
        guard parts.count == 2 else { return false }
        let numbers = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        let date = parts[1].split(separator: "-", omittingEmptySubsequences: false)
        return numbers.count == 3 && numbers.allSatisfy { UInt($0) != nil }
            && date.map(\.count) == [4, 2, 2] && date.allSatisfy { UInt($0) != nil }
    }

    static let scripts = Rule("scripts") { file in
        guard file.isUnder("scripts", ".ci"), !file.path.hasSuffix(".sh") else { return [] }
        var messages: [String] = []
        if !file.isExecutable { messages.append("not executable: chmod +x") }
        if !file.text.hasPrefix("#!/") { messages.append("no `#!` line") }
        return messages.map { Finding(rule: "scripts", path: file.path, line: 0, message: $0) }
    }

    /// Somebody's own directories, and the folder this checkout happens to lie in, mean nothing to
    /// anybody else.
    static let ownPaths = ownPaths(root: Checkout.root)

    static func ownPaths(root: String) -> Rule {
        let system: Set<Substring> = [
            "usr", "etc", "var", "tmp", "opt", "run", "srv", "builds", "github", "src",
        ]
        var own = ["/home/", "/Users/"]
        if let top = root.split(separator: "/").first, !system.contains(top) {
            own.append("/\(top)/")
        }
        let paths = own
        return Rule.lines("own-paths") { file, index in
            guard !file.path.hasPrefix("Tests/TidyTests/") else { return nil }
            return paths.first { startsPath(file.lines[index], $0) }.map {
                "\($0)…: a path of one machine; say what it stands for"
            }
        }
    }

    private static func startsPath(_ line: Substring, _ path: String) -> Bool {
        line.ranges(of: path).contains { range in
            guard range.lowerBound > line.startIndex else { return true }
            let before = line[line.index(before: range.lowerBound)]
            return !(before.isLetter || before.isNumber || "._-}/".contains(before))
        }
    }
}
