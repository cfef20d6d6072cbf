/// A function as a scan of its braces sees it.
struct FunctionScan {
    let name: String
    /// The line of its declaration, from 1.
    let line: Int
    /// From the declaration to the closing brace, both counted.
    let lineCount: Int
    let parameterCount: Int
    /// The deepest block of control flow inside the body; the body itself is 0.
    let nesting: Int

    /// Every function, initializer and subscript with a body in `file`.
    static func functions(in file: SourceFile) -> [FunctionScan] {
        let tokens = CodeToken.tokens(of: file.code)
        return tokens.indices.compactMap { index in
            file.isC ? cFunction(tokens, at: index) : swiftFunction(tokens, at: index)
        }
    }

    private static let openers: Set<String> = ["func", "init", "deinit", "subscript"]
    private static let nextDeclaration: Set<String> = [
        "func", "init", "deinit", "subscript", "var", "let", "case", "static", "mutating", "}",
        "associatedtype", "typealias", "public", "private", "internal", "struct", "enum", "class",
        ";", "=", "nonisolated", "protocol", "extension", "fileprivate", "override", "final",
    ]

    private static func swiftFunction(_ tokens: [CodeToken], at index: Int) -> FunctionScan? {
        let keyword = tokens[index].text
        guard openers.contains(keyword), index == 0 || !isUse(after: tokens[index - 1].text)
        else { return nil }
        var next = index + 1
        var parameters = 0
        if keyword != "deinit" {
            while next < tokens.count, tokens[next].text != "(" {
                guard tokens[next].text != "{", tokens[next].text != "}" else { return nil }
                next += 1
            }
            (parameters, next) = skipParentheses(tokens, from: next)
        }
        while next < tokens.count, tokens[next].text != "{" {
            guard !nextDeclaration.contains(tokens[next].text) else { return nil }
            next = tokens[next].text == "(" ? skipParentheses(tokens, from: next).next : next + 1
        }
        let name = keyword == "func" && index + 1 < tokens.count ? tokens[index + 1].text : keyword
        return body(tokens, declaredAt: index, braceAt: next, name: name, parameters: parameters)
    }

    private static func isUse(after previous: String) -> Bool {
        [".", "`", "let", "var", "case"].contains(previous)
    }

    /// A C function starts in column 0 with a word and has its brace right after its parameters.
    private static func cFunction(_ tokens: [CodeToken], at index: Int) -> FunctionScan? {
        guard tokens[index].text == "(", index > 0, tokens[index - 1].isWord,
            tokens[index].depth == 0
        else { return nil }
        let (parameters, next) = skipParentheses(tokens, from: index)
        guard next < tokens.count, tokens[next].text == "{" else { return nil }
        return body(
            tokens, declaredAt: index, braceAt: next, name: tokens[index - 1].text,
            parameters: parameters)
    }

    /// The number of elements between the parentheses that open at `start`, and the token after.
    private static func skipParentheses(
        _ tokens: [CodeToken], from start: Int
    ) -> (count: Int, next: Int) {
        var depth = 0
        var commas = 0
        var next = start
        while next < tokens.count {
            switch tokens[next].text {
            case "(", "[", "{": depth += 1
            case ")", "]", "}": depth -= 1
            case ",": commas += depth == 1 ? 1 : 0
            default: break
            }
            next += 1
            if depth == 0 { break }
        }
        let isEmpty = next - start <= 2
        return (isEmpty ? 0 : commas + 1, next)
    }

    private static func body(
        _ tokens: [CodeToken], declaredAt start: Int, braceAt brace: Int, name: String,
        parameters: Int
    ) -> FunctionScan? {
        guard brace < tokens.count else { return nil }
        var blocks: [Bool] = []
        var deepest = 0
        for index in brace..<tokens.count {
            if tokens[index].text == "{" {
                blocks.append(index > brace && isControlFlow(tokens, braceAt: index))
                deepest = max(deepest, blocks.count { $0 })
            } else if tokens[index].text == "}" {
                blocks.removeLast()
            }
            if blocks.isEmpty {
                return FunctionScan(
                    name: name, line: tokens[start].line,
                    lineCount: tokens[index].line - tokens[start].line + 1,
                    parameterCount: parameters, nesting: deepest)
            }
        }
        return nil
    }

    private static let controlFlow: Set<String> = [
        "if", "else", "for", "while", "switch", "do", "guard", "catch", "repeat",
    ]

    /// Looks back over the statement the brace belongs to: to the last brace or the first word of
    /// its line that is not a continuation.
    private static func isControlFlow(_ tokens: [CodeToken], braceAt brace: Int) -> Bool {
        var index = brace - 1
        while index >= 0, !["{", "}", ";"].contains(tokens[index].text) {
            if tokens[index].text == ")" {
                index = openingParenthesis(tokens, of: index)
                continue
            }
            let startsLine = index == 0 || tokens[index - 1].line < tokens[index].line
            let followsBrace = index > 0 && ["{", "}"].contains(tokens[index - 1].text)
            if startsLine || followsBrace, controlFlow.contains(tokens[index].text) { return true }
            index -= 1
        }
        return false
    }

    /// The place before the parenthesis that the one at `end` closes.
    private static func openingParenthesis(_ tokens: [CodeToken], of end: Int) -> Int {
        var depth = 0
        var index = end
        repeat {
            if tokens[index].text == ")" { depth += 1 }
            if tokens[index].text == "(" { depth -= 1 }
            index -= 1
        } while depth > 0 && index >= 0
        return index
    }
}

/// A word or a sign of code, with its place.
struct CodeToken {
    let text: String
    /// From 1.
    let line: Int
    /// How many braces are open before it.
    let depth: Int

    var isWord: Bool { text.first.map { $0.isLetter || $0 == "_" } ?? false }

    /// The tokens of lines without comments and strings.
    static func tokens(of lines: [Substring]) -> [CodeToken] {
        var tokens: [CodeToken] = []
        var depth = 0
        for (index, line) in lines.enumerated() where line.first != "#" {
            var rest = line[...]
            while let first = rest.first {
                let isWord = isWordCharacter(first)
                let text = isWord ? rest.prefix(while: isWordCharacter) : rest.prefix(1)
                rest = rest.dropFirst(text.count)
                if first.isWhitespace { continue }
                if first == "}" { depth -= 1 }
                tokens.append(CodeToken(text: String(text), line: index + 1, depth: depth))
                if first == "{" { depth += 1 }
            }
        }
        return tokens
    }

    private static func isWordCharacter(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }
}
