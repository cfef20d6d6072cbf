extension Rule {
    static let lineLength = Rule.lines("line-length") { file, index in
        let line = file.lines[index]
        guard file.isCode || file.isMarkdown || file.isUnder("scripts", ".ci") else { return nil }
        if file.isMarkdown, line.hasPrefix("|") || line.contains("](") { return nil }
        guard line.count > 100 else { return nil }
        return "\(line.count) columns; break the line at 100"
    }

    static let fileLength = Rule("file-length") { file in
        guard file.isCode else { return [] }
        let limit = file.isUnder("Tests") ? 500 : 400
        guard file.lines.count - 1 > limit else { return [] }
        let message =
            "\(file.lines.count - 1) lines, limit \(limit); one concept per file: split it"
        return [Finding(rule: "file-length", path: file.path, line: 0, message: message)]
    }

    static let functionShape = Rule("function-shape") { file in
        guard file.isCode else { return [] }
        return FunctionScan.functions(in: file).flatMap { function in
            var messages: [String] = []
            if function.lineCount > 70 {
                messages.append(
                    "\(function.name) has \(function.lineCount) lines, limit 70; "
                        + "one function branches, leaves are pure: move the leaves out")
            }
            if function.parameterCount > 5, !file.isC {
                messages.append(
                    "\(function.name) has \(function.parameterCount) parameters, limit 5; "
                        + "what goes together is a type")
            }
            if function.nesting > 3 {
                messages.append(
                    "\(function.name) nests \(function.nesting) deep, limit 3; "
                        + "leave early, or name the inner part")
            }
            return messages.map {
                Finding(rule: "function-shape", path: file.path, line: function.line, message: $0)
            }
        }
    }
}
