import Stoic

/// Why the variables of a file cannot be had.
public enum EnvironmentFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no such file.
    case missing(file: String)
    /// It is there and cannot be read: why.
    case unreadable(file: String, reason: String)
    /// What is wrong with its text; at most 100 problems.
    case malformed([Diagnostic])

    /// A sentence, or one line for each problem.
    public var description: String {
        switch self {
        case .missing(let file): "cannot read \(file): \(SystemError.meaning(of: 2))"
        case .unreadable(let file, let reason): "cannot read \(file): \(reason)"
        case .malformed(let problems): problems.map(\.description).joined(separator: "\n")
        }
    }
}

/// An environment file is at most this long.
public let mostEnvironmentFileBytes = 1 << 20

/// Reads the variables of an environment file, in the order of the file.
///
/// A line is `NAME=VALUE`, with an optional `export` in front; blank lines and lines whose first
/// visible character is `#` say nothing. A value is what follows the first `=` up to the end of
/// the line, without the blanks around it, and nothing else is special in it: not `#`, not `=`,
/// not `$`, not a backslash. A value that begins with a quote ends at the same quote, also some
/// lines later: in single quotes everything is literal, in double quotes `\"`, `\\`, `\$`, `` \`
/// ``, `\n`, `\r` and `\t` stand for a character. A later line for a name replaces an earlier one.
///
/// Blocks on the file; safe from any thread.
/// - Parameter path: At most `mostEnvironmentFileBytes` long.
public func readEnvironmentFile(
    _ path: String
) throws(EnvironmentFileError) -> [(name: String, value: String)] {
    let bytes: [UInt8]
    do throws(FileFailure) {
        bytes = try readFile(path, most: mostEnvironmentFileBytes)
    } catch .system(let number) where number == 2 {
        throw .missing(file: path)
    } catch {
        throw .unreadable(file: path, reason: error.reason)
    }
    let text: String
    do throws(TextFault) { text = try sourceText(bytes) } catch {
        throw .malformed([Diagnostic(file: path, fault: error)])
    }
    var parser = EnvironmentFileParser(text)
    parser.parse()
    guard parser.faults.isEmpty else {
        let kept = parser.faults.prefix(ConfigError.mostDiagnostics)
        throw .malformed(kept.map { Diagnostic(file: path, fault: $0) })
    }
    return parser.variables
}

extension Diagnostic {
    init(file: String, fault: TextFault) {
        self.init(.error, file: file, place: fault.place, path: fault.path, fault.message)
        suggestion = fault.suggestion
    }
}

/// The rule of `readEnvironmentFile`, over the text's Unicode scalars.
struct EnvironmentFileParser {
    private(set) var variables: [(name: String, value: String)] = []
    private(set) var faults: [TextFault] = []
    private let scalars: [Unicode.Scalar]
    private var position = 0
    private var place = Place(line: 1, column: 1)

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    mutating func parse() {
        while next != nil {
            do throws(TextFault) { try parseLine() } catch {
                faults.append(error)
                skip { $0 != "\n" }
            }
            advance()  // over the line's end
        }
    }

    private mutating func parseLine() throws(TextFault) {
        skip(Self.isBlank)
        guard let first = next, first != "\n", first != "#" else {
            skip { $0 != "\n" }
            return
        }
        var start = place
        var name = taken { $0 != "=" && $0 != "\n" }
        if name.hasPrefix("export "), next == "=" {
            let rest = name.dropFirst(7).drop { $0 == " " }
            start.column += name.count - rest.count
            name = String(rest)
        }
        guard next == "=" else {
            throw TextFault(
                start, "there is no = in \(quoted(name))",
                suggestion: "write NAME=VALUE, or # in front of a comment")
        }
        guard isVariableName(name) else {
            throw TextFault(
                start, "\(quoted(name)) is not the name of a variable",
                suggestion: "letters, digits and _, not a digit first, no space before =")
        }
        advance()
        skip(Self.isBlank)
        let value = next == "\"" || next == "'" ? try quotedValue() : plainValue()
        variables.append((name, value))
    }

    private mutating func plainValue() -> String {
        var value = taken { $0 != "\n" }
        while let last = value.unicodeScalars.last, Self.isBlank(last) {
            value.unicodeScalars.removeLast()
        }
        return value
    }

    private mutating func quotedValue() throws(TextFault) -> String {
        let opening = place
        guard let quote = next else { return "" }
        advance()
        var value = String.UnicodeScalarView()
        while let scalar = next, scalar != quote {
            advance()
            value.append(scalar == "\\" && quote == "\"" ? escaped() : scalar)
        }
        guard next != nil else {
            throw TextFault(opening, "the quote that opens here is never closed")
        }
        advance()
        skip(Self.isBlank)
        guard next == nil || next == "\n" else {
            throw TextFault(
                place, "text follows the closing quote",
                suggestion: "quote the whole value, or do not begin it with a quote")
        }
        return String(value)
    }

    /// What a backslash in double quotes stands for: itself before anything not listed.
    private mutating func escaped() -> Unicode.Scalar {
        let meanings: [Unicode.Scalar: Unicode.Scalar] = [
            "\"": "\"", "\\": "\\", "$": "$", "`": "`", "n": "\n", "r": "\r", "t": "\t",
        ]
        guard let scalar = next, let meaning = meanings[scalar] else { return "\\" }
        advance()
        return meaning
    }

    private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    private mutating func advance() {
        guard let scalar = next else { return }
        position += 1
        if scalar == "\n" {
            place = Place(line: place.line + 1, column: 1)
        } else {
            place.column += 1
        }
    }

    private mutating func skip(_ belongs: (Unicode.Scalar) -> Bool) {
        while let scalar = next, belongs(scalar) { advance() }
    }

    private mutating func taken(_ belongs: (Unicode.Scalar) -> Bool) -> String {
        let start = position
        skip(belongs)
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars[start..<position])
        return String(view)
    }

    /// A carriage return before the line's end is a blank, so files from Windows read the same.
    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\t" || scalar == "\r"
    }
}

/// Whether `name` may name a variable in a config: letters, digits and `_`, not a digit first.
func isVariableName(_ name: some StringProtocol) -> Bool {
    guard let first = name.utf8.first, !(0x30...0x39).contains(first) else { return false }
    return name.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: true
        default: false
        }
    }
}
