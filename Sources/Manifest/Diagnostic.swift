/// One thing that is wrong, or odd, in a config: where, what, and what to write instead.
public struct Diagnostic: Hashable, Sendable, CustomStringConvertible {
    /// Whether the config can be used all the same.
    public var severity: Severity
    /// The file it is in, as the user named it.
    public var file: String
    /// The line, from 1; 0 when only the file or the path is known.
    public var line: Int
    /// The column, from 1, counted in characters; 0 when it is not known.
    public var column: Int
    /// The keys that lead there, joined by dots: `services.web.needs`. Empty for the whole file.
    public var path: String
    /// The problem, in a sentence without its full stop.
    public var message: String
    /// What would repair it, in words: `did you mean "database"?`.
    public var suggestion: String?

    /// Whether the config can be used all the same.
    public enum Severity: String, Hashable, Sendable, CaseIterable {
        /// The config cannot be used.
        case error
        /// The config can be used, and may not do what its author thinks.
        case warning
    }

    /// A problem at a place.
    public init(
        _ severity: Severity, file: String, place: Place = .unknown, path: String = "",
        _ message: String
    ) {
        self.severity = severity
        self.file = file
        line = place.line
        column = place.column
        self.path = path
        self.message = message
        suggestion = nil
    }

    /// `file:line:col: services.web.needs: no service "databse" (did you mean "database"?)`.
    /// A warning says so before its path; what is not known is left out.
    public var description: String {
        var text = file
        if line > 0 { text += ":\(line)" }
        if line > 0 && column > 0 { text += ":\(column)" }
        text += severity == .warning ? ": warning: " : ": "
        if !path.isEmpty { text += "\(path): " }
        text += message
        if let suggestion { text += " (\(suggestion))" }
        return text
    }
}

/// A line and a column of a text, each from 1; 0 is unknown.
public struct Place: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The line, from 1.
    public var line: Int
    /// The column, from 1, counted in characters.
    public var column: Int

    /// A place by its line and column.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Somewhere.
    public static let unknown = Place(line: 0, column: 0)

    public var description: String { "line \(line), column \(column)" }
    public static func < (left: Place, right: Place) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// Why a config cannot be used: everything that is wrong with it, in the order of the file.
public struct ConfigError: Error, Hashable, Sendable, CustomStringConvertible {
    /// At least one error, and the warnings beside them. At most `mostDiagnostics`, and then one
    /// more that says how many are not listed.
    public let diagnostics: [Diagnostic]

    /// More problems than this are counted, not listed.
    public static let mostDiagnostics = 100

    /// An error of these problems.
    public init(_ diagnostics: [Diagnostic]) { self.diagnostics = diagnostics }

    /// One line for each problem.
    public var description: String {
        diagnostics.map(\.description).joined(separator: "\n")
    }
}
