import Stoic

extension SchemaCheck {
    /// The value of a text by its type, or `nil` after a report.
    func scalar(_ text: String, _ type: ValueType, _ spot: Spot) -> Checked? {
        do throws(ValueError) {
            return Checked(spot, try read(text, type))
        } catch {
            log.error(spot, error)
            return nil
        }
    }

    /// What others write for `true` and `false`.
    private static var flag: [String: Bool] {
        [
            "yes": true, "on": true, "1": true, "True": true, "TRUE": true, "y": true,
            "no": false, "off": false, "0": false, "False": false, "FALSE": false, "n": false,
        ]
    }

    private func read(_ text: String, _ type: ValueType) throws(ValueError) -> Checked.Value {
        switch type {
        case .text(let rule): return try read(text, rule)
        case .flag:
            guard text == "true" || text == "false" else {
                throw ValueError(
                    "expected true or false, found \(shown(text))",
                    suggestion: Self.flag[text].map { "write \($0)" })
            }
            return .flag(text == "true")
        case .integer(let range): return .integer(try integer(text, range))
        case .number(let range):
            guard let number = Double(text), range.contains(number) else {
                throw ValueError(
                    "expected a number from \(range.lowerBound) to \(range.upperBound), "
                        + "found \(shown(text))")
            }
            return .number(number)
        case .duration(let zeroIsLegal):
            let duration = try parseDuration(text)
            guard zeroIsLegal || duration > .zero else {
                throw ValueError("\(text) is too short: it has to be longer than 0s")
            }
            return .duration(duration)
        case .size(let range):
            let size = try parseSize(text)
            guard range.contains(size) else {
                throw ValueError(
                    "\(text) is not between \(sizeText(range.lowerBound)) and "
                        + sizeText(range.upperBound))
            }
            return .size(size)
        case .signal(let refused): return .signal(try signal(text, refused))
        case .octal: return .integer(Int64(try octal(text)))
        case .limit: return .limit(try limit(text))
        case .choice(let words, let foreign): return .text(try choice(text, words, foreign))
        case .command, .list, .map, .object, .either:
            throw ValueError("expected \(type.expectation), found \(shown(text))")
        }
    }

    private func read(_ text: String, _ rule: TextRule) throws(ValueError) -> Checked.Value {
        guard rule.mayBeEmpty || !text.isEmpty else {
            throw ValueError("expected text, found nothing")
        }
        switch rule.interpolation {
        case .none: return .text(text)
        case .template: return .template(try interpolator.template(text))
        case .variables:
            let template = try interpolator.template(text)
            guard let result = template.literalText else {
                throw ValueError(
                    "values of other services cannot be used in this key",
                    suggestion: "they can in command, environment and provides")
            }
            guard rule.mayBeEmpty || !result.isEmpty else {
                throw ValueError("\(quoted(text)) comes out empty")
            }
            return .text(result)
        }
    }

    private func integer(_ text: String, _ range: ClosedRange<Int64>) throws(ValueError) -> Int64 {
        guard let number = Int64(text), range.contains(number) else {
            throw ValueError(
                "expected a whole number from \(range.lowerBound) to \(range.upperBound), "
                    + "found \(shown(text))")
        }
        return number
    }

    private func signal(_ text: String, _ refused: [Int32]) throws(ValueError) -> Int32 {
        let number = try parseSignal(text)
        guard !refused.contains(number) else {
            throw ValueError("\(signalName(number)) cannot be used for this")
        }
        return number
    }

    private func octal(_ text: String) throws(ValueError) -> UInt32 {
        let digits = text.hasPrefix("0o") ? String(text.dropFirst(2)) : text
        guard digits.hasPrefix("0"), let bits = UInt32(digits, radix: 8), bits <= 0o777 else {
            throw ValueError(
                "\(quoted(text)) is not a umask", suggestion: "write it in octal, like 022")
        }
        return bits
    }

    private func limit(_ text: String) throws(ValueError) -> UInt64? {
        if text == "unlimited" { return nil }
        if let number = UInt64(text) { return number }
        do throws(ValueError) { return try parseSize(text) } catch {
            throw ValueError(
                "\(quoted(text)) is not a limit",
                suggestion: "write a number, a size like 64MiB, or unlimited")
        }
    }

    private func choice(
        _ text: String, _ words: [String], _ foreign: [String: String]
    ) throws(ValueError) -> String {
        if words.contains(text) { return text }
        var error = ValueError("expected \(alternatives(words)), found \(shown(text))")
        if let word = foreign[text] {
            error.suggestion = "use \(word)"
        } else if let near = nearest(to: text, among: words) {
            error.suggestion = "did you mean \(quoted(near))?"
        }
        throw error
    }

    private func shown(_ text: String) -> String { text.isEmpty ? "nothing" : quoted(text) }
}

/// `a`, `a or b`, `a, b or c`.
func alternatives(_ words: [String]) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "nothing" }
    return words.dropLast().joined(separator: ", ") + " or " + last
}

extension ValueType {
    /// Whether a value of this shape can be of this type.
    func accepts(_ node: Node) -> Bool {
        switch self {
        case .text, .flag, .integer, .number, .duration, .size, .signal, .octal, .limit, .choice:
            if case .scalar = node.content { true } else { false }
        case .command:
            switch node.content {
            case .scalar, .sequence: true
            case .null, .reported, .mapping: false
            }
        case .list: if case .sequence = node.content { true } else { false }
        case .map, .object: if case .mapping = node.content { true } else { false }
        case .either(let types): types.contains { $0.accepts(node) }
        }
    }

    /// What follows "expected ".
    var expectation: String {
        switch self {
        case .text: "text"
        case .flag: "true or false"
        case .integer(let range):
            "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .duration: "a duration such as 500ms or 1m30s"
        case .size: "a size such as 10MiB"
        case .signal: "a signal such as TERM"
        case .octal: "an octal number such as 022"
        case .limit: "a number, a size or unlimited"
        case .choice(let words, _): alternatives(words)
        case .command: "a command, as text or as a list"
        case .list: "a list"
        case .map, .object: "a map"
        case .either(let types): alternatives(types.map(\.expectation))
        }
    }
}
