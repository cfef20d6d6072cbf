/// The public declarations of a module as text: a line each, sorted, so that a change of the
/// interface is a change one can read.
///
/// A line is `path | declaration`, then what else matters, in brackets: `may grow` for an enum that
/// says so, `required` for what a conforming type has to have, `deprecated after 1.2.0`.
struct Outline {
    struct Entry: Hashable {
        /// `Scope.fork(_:onFailure:_:)`.
        let path: String
        /// The declaration, or `conforms to Sendable`.
        let text: String
        /// `may grow`, or `required`.
        let notes: [String]
        let deprecation: Deprecation?
    }

    enum Deprecation: Hashable {
        /// The source says so, and since when is not known.
        case declared
        /// The newest release at the time it was recorded.
        case after(Release)
    }

    var entries: [Entry]

    /// The outline of what the compiler knows.
    init(_ graph: SymbolGraph) {
        let required = Set(
            graph.relationships.filter { $0.kind == "requirementOf" }.map(\.source))
        let defaults = Set(
            graph.relationships.filter { $0.kind == "defaultImplementationOf" }.map(\.target))
        let own = graph.symbols.filter { !$0.isSynthesized }
        entries = own.map { symbol in
            let usr = symbol.identifier.precise
            let isRequired = required.contains(usr) && !defaults.contains(usr)
            return Entry(
                path: symbol.path, text: symbol.declaration,
                notes: (symbol.mayGrow ? ["may grow"] : []) + (isRequired ? ["required"] : []),
                deprecation: symbol.isDeprecated ? .declared : nil)
        }
        let paths = Dictionary(
            own.map { ($0.identifier.precise, $0.path) }, uniquingKeysWith: { first, _ in first })
        for relationship in graph.relationships where relationship.kind == "conformsTo" {
            guard let path = paths[relationship.source] else { continue }
            let name = paths[relationship.target] ?? relationship.targetFallback ?? "?"
            // What every ordinary type conforms to.
            if ["Swift.Escapable", "Swift.SendableMetatype"].contains(name) { continue }
            entries.append(
                Entry(path: path, text: "conforms to \(name)", notes: [], deprecation: nil))
        }
        sort()
    }

    /// The outline of what was recorded. Lines that begin with `#` say what the file is.
    init(text: String) {
        entries = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(Self.entry)
    }

    private static func entry(_ line: Substring) -> Entry {
        let parts = line.split(separator: " | ", maxSplits: 1)
        let words = parts.last?.split(separator: " [") ?? []
        let notes = words.dropFirst().map { String($0.dropLast()) }
        let prefix = "deprecated after "
        let deprecation = notes.first { $0.hasPrefix(prefix) }.flatMap {
            Release(String($0.dropFirst(prefix.count)))
        }
        // A `[` with a space before it may stand in a declaration too: only known notes are notes.
        let known = notes.filter { $0 == "may grow" || $0 == "required" }
        let count = known.count + (deprecation == nil ? 0 : 1)
        return Entry(
            path: parts.first.map(String.init) ?? "",
            text: words.dropLast(count).joined(separator: " ["), notes: known,
            deprecation: deprecation.map(Deprecation.after))
    }

    /// The lines, for the file.
    var text: String {
        entries.map { entry in
            var notes = entry.notes
            if case .after(let release) = entry.deprecation {
                notes.append("deprecated after \(release)")
            }
            return "\(entry.path) | \(entry.text)" + notes.map { " [\($0)]" }.joined() + "\n"
        }.joined()
    }

    private mutating func sort() {
        entries = Set(entries).sorted { ($0.path, $0.text) < ($1.path, $1.text) }
    }

    /// With each deprecation dated: as in `recorded`, or after `release` if it is new.
    func dated(by recorded: Outline, newest release: Release) -> Outline {
        let known = Dictionary(
            recorded.entries.map { ("\($0.path) | \($0.text)", $0.deprecation) },
            uniquingKeysWith: { first, _ in first })
        var outline = self
        outline.entries = entries.map { entry in
            guard entry.deprecation != nil else { return entry }
            return Entry(
                path: entry.path, text: entry.text, notes: entry.notes,
                deprecation: known["\(entry.path) | \(entry.text)"] ?? .after(release))
        }
        return outline
    }
}

/// A released version; `0.0.0` before the first.
struct Release: Hashable, CustomStringConvertible {
    let major, minor, patch: Int
    static let none = Release(major: 0, minor: 0, patch: 0)

    init(major: Int, minor: Int, patch: Int) {
        self.major = major
        self.minor = minor
        self.patch = patch
    }

    init?(_ text: String) {
        let parts = text.split(separator: ".").map { Int($0) }
        guard parts.count == 3, let major = parts[0], let minor = parts[1], let patch = parts[2]
        else { return nil }
        self.init(major: major, minor: minor, patch: patch)
    }

    var description: String { "\(major).\(minor).\(patch)" }

    /// Whether there was a minor version after `other`.
    func isMinorVersionAfter(_ other: Release) -> Bool {
        (major, minor) > (other.major, other.minor)
    }
}
