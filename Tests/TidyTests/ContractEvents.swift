/// The events that the rows of the library's contracts name, and the tests that claim the rows.
enum ContractEvents {
    /// Names no claiming test looks at, and names that nothing reports.
    static func findings(
        contracts: [SourceFile], sources: [SourceFile], tests: [SourceFile]
    ) -> [Finding] {
        let constants = Dictionary(sources.flatMap(constants)) { first, _ in first }
        let claims = Claims(tests)
        return contracts.flatMap { file in
            file.lines.enumerated().flatMap { index, line in
                problems(of: line, constants, claims).map {
                    Finding(
                        rule: "contract-events", path: file.path, line: index + 1, message: $0)
                }
            }
        }
    }

    private static func problems(
        of line: Substring, _ constants: [String: String], _ claims: Claims
    ) -> [String] {
        guard let tag = ContractRows.rowTag(line) else { return [] }
        let cells = line.split(separator: "|")
        let last = cells.last { $0.contains { $0 != " " } } ?? ""
        return names(in: last).compactMap { name in
            guard let constant = constants[name] else { return "\(tag): nothing reports \(name)" }
            let isSeen = claims.texts(of: tag).contains {
                mentions($0, name) || mentions($0, "." + constant)
            }
            return isSeen ? nil : "\(tag): no test that claims it looks at \(name)"
        }
    }

    /// `graph.starting` and `graph.stopped` of "`graph.starting .stopped`, reason `deadline`".
    static func names(in cell: Substring) -> [String] {
        var prefix: Substring = ""
        var names: [String] = []
        let parts = cell.split(separator: "`", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() where index % 2 == 1 {
            for word in part.split(separator: " ") where word.contains(".") {
                names.append(String(word.hasPrefix(".") ? prefix + word : word))
                if !word.hasPrefix(".") { prefix = word.prefix { $0 != "." } }
            }
        }
        return names
    }

    /// The texts of events, each with the name of its constant.
    private static func constants(of file: SourceFile) -> [(String, String)] {
        file.lines.compactMap { line in
            guard let end = line.firstRange(of: " = EventName(\""),
                let start = line.firstRange(of: "let ")
            else { return nil }
            let text = line[end.upperBound...].prefix { $0 != "\"" }
            return (String(text), String(line[start.upperBound..<end.lowerBound]))
        }
    }

    /// Whether `word` stands in `text`, and not as a part of a longer name.
    private static func mentions(_ text: String, _ word: String) -> Bool {
        text.ranges(of: word).contains { range in
            let before = text[..<range.lowerBound].last
            let after = text[range.upperBound...].first
            return !(before.map(isOfName) ?? false) && !(after.map(isOfName) ?? false)
        }
    }

    private static func isOfName(_ character: Character) -> Bool {
        character.isLetter || character.isNumber
    }
}

/// The tests that claim rows, each with the helpers of its folder that it uses.
private struct Claims {
    private var tests: [String: [Declaration]] = [:]
    /// By folder and name.
    private var helpers: [String: [Declaration]] = [:]

    init(_ files: [SourceFile]) {
        for declaration in files.flatMap(Declaration.all) {
            for tag in declaration.claims { tests[tag, default: []].append(declaration) }
            guard !declaration.isTest else { continue }
            helpers[declaration.place, default: []].append(declaration)
        }
    }

    /// What stands in the tests that claim `tag`, and in what they call.
    func texts(of tag: String) -> [String] {
        (tests[tag] ?? []).flatMap { test in
            let used = helpers(of: test)
            return ([test] + used + used.flatMap(helpers)).map(\.text)
        }
    }

    private func helpers(of declaration: Declaration) -> [Declaration] {
        let words = declaration.text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
        return Set(words).flatMap { helpers[declaration.folder + "/" + $0] ?? [] }
    }
}

/// A function, or a property with a body, of a test target.
private struct Declaration {
    let folder: String
    let name: String
    let text: String
    let claims: [String]
    let isTest: Bool

    var place: String { folder + "/" + name }

    static func all(in file: SourceFile) -> [Declaration] {
        file.code.indices.compactMap { declaration(in: file, at: $0) }
    }

    /// What is declared on this line: down to the brace that closes it, as deep as it began.
    private static func declaration(in file: SourceFile, at index: Int) -> Declaration? {
        let code = file.code[index]
        let words = code.split { $0 == " " || $0 == "(" || $0 == ":" || $0 == "<" }
        guard let keyword = words.firstIndex(where: { $0 == "func" || $0 == "var" }),
            keyword + 1 < words.count
        else { return nil }
        let depth = code.prefix { $0 == " " }
        let isShort = code.last == "}"
        // A property without a body, or one in a body: neither is called by its name alone.
        guard words[keyword] == "func" || code.contains("{"), depth.count <= 4 else { return nil }
        let closing = file.code[index...].firstIndex { $0 == depth + "}" }
        guard let end = isShort ? index : closing else { return nil }
        let start = file.lines[..<index].lastIndex { $0.isEmpty || $0 == depth + "}" } ?? 0
        let head = file.lines[start...index]
        return Declaration(
            folder: file.path.split(separator: "/").dropLast().joined(separator: "/"),
            name: String(words[keyword + 1]),
            text: file.lines[index...end].joined(separator: "\n"),
            claims: head.flatMap(ContractRows.claims),
            isTest: head.contains { $0.contains("@Test") })
    }
}
