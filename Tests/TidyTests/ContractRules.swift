extension Rule {
    static let contractHeadings = Rule("contract-headings") { file in
        guard file.isMarkdown, file.isUnder("docs/design") else { return [] }
        let headings = file.lines.filter { $0.hasPrefix("##") }.map { $0.lowercased() }
        let required = [
            "semantics", "cancellation", "errors", "isolation", "defaults", "failure", "events",
        ]
        return required.filter { word in !headings.contains { $0.contains(word) } }.map {
            Finding(
                rule: "contract-headings", path: file.path, line: 0,
                message: "a contract says its \($0): add the heading")
        }
    }
}

extension Rule {
    /// The contracts of the library, from 20 on: a row says what is reported, or why nothing is.
    static let contractEvents = Rule.lines("contract-events") { file, index in
        guard file.isMarkdown, file.isUnder("docs/design"), isOfTheLibrary(file.path),
            let tag = ContractRows.rowTag(file.lines[index])
        else { return nil }
        let cells = file.lines[index].split(separator: "|", omittingEmptySubsequences: false)
            .dropFirst().dropLast()
        guard cells.count == 4, let last = cells.last else {
            return "\(tag): | id | what happens if… | expected | events |"
        }
        let events = last.drop { $0 == " " }
        let isSaid =
            events.contains("`") || events.hasPrefix("those of ")
            || events.hasPrefix("silent: ") && events.split(separator: " ").count > 1
        return isSaid ? nil : "\(tag) names no event: `name`, those of …, or silent: why"
    }

    static func isOfTheLibrary(_ path: String) -> Bool {
        let number = path.split(separator: "/").last.flatMap { Int($0.prefix(2)) }
        return (number ?? 0) >= 20
    }
}

/// The rows of the failure-mode tables and the tests that claim them.
enum ContractRows {
    /// Rows no test name claims, and claims of rows that do not exist.
    static func findings(contracts: [SourceFile], tests: [SourceFile]) -> [Finding] {
        var rows: [String: Finding] = [:]
        var doubled: [Finding] = []
        for file in contracts {
            for (index, line) in file.lines.enumerated() {
                guard let tag = rowTag(line) else { continue }
                let finding = Finding(
                    rule: "contract-rows", path: file.path, line: index + 1,
                    message: "\(tag) is claimed by no test: @Test(\"\(tag): …\")")
                guard let first = rows.updateValue(finding, forKey: tag) else { continue }
                let message = "\(tag) stands twice, also in \(first.path):\(first.line)"
                doubled.append(
                    Finding(
                        rule: "contract-rows", path: file.path, line: index + 1, message: message))
            }
        }
        var claimed: [String: Finding] = [:]
        for file in tests {
            for (index, line) in file.lines.enumerated() {
                for tag in claims(line) {
                    claimed[tag] = Finding(
                        rule: "contract-rows", path: file.path, line: index + 1,
                        message: "\(tag) stands in no table of docs/design")
                }
            }
        }
        let open = rows.filter { claimed[$0.key] == nil }.map(\.value)
        let unknown = claimed.filter { rows[$0.key] == nil }.map(\.value)
        return (open + unknown + doubled).sorted { ($0.path, $0.line) < ($1.path, $1.line) }
    }

    /// `OUT-3` of `| OUT-3 | what happens if … | expected |`.
    static func rowTag(_ line: Substring) -> String? {
        guard line.hasPrefix("|"),
            let cell = line.dropFirst().split(separator: "|", maxSplits: 1).first
        else { return nil }
        let text = cell.filter { $0 != " " && $0 != "`" && $0 != "*" }
        return isTag(text[...]) ? text : nil
    }

    /// The tags at the start of a test's name: `@Test("OUT-3, OUT-4: …`.
    static func claims(_ line: Substring) -> [String] {
        guard let start = line.firstRange(of: "\"") else { return [] }
        let isTest = line.contains("@Test(")
        let isNameAlone = line.drop { $0 == " " }.hasPrefix("\"")
        guard isTest || isNameAlone else { return [] }
        let name = line[start.upperBound...].prefix { $0 != ":" && $0 != "\"" }
        let words = name.split { $0 == "," || $0 == " " }
        return words.allSatisfy(isTag) ? words.map(String.init) : []
    }

    private static func isTag(_ text: Substring) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, (2...6).contains(parts[0].count) else { return false }
        return parts[0].allSatisfy { $0.isASCII && $0.isUppercase } && UInt(parts[1]) != nil
    }
}
