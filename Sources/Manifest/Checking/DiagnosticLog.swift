/// Collects what is wrong with one config. The same problem at the same place counts once, because
/// defaults are looked at once for each service.
final class DiagnosticLog {
    private let file: String
    private var seen: Set<Diagnostic> = []
    private var errors: [Diagnostic] = []
    private var kept: [Diagnostic] = []
    private var unlisted = 0
    private var lookups = 0

    /// Looking for a near word among thousands takes its time, and a file that is wrong throughout
    /// is understood after a few.
    private static let mostLookups = 25

    init(file: String) { self.file = file }

    /// Whether anything so far makes the config unusable.
    var hasErrors: Bool { !errors.isEmpty }

    func error(_ at: some Located, _ message: String, suggestion: String? = nil) {
        add(.error, at, message, suggestion)
    }

    func error(_ at: some Located, _ value: ValueError) {
        add(.error, at, value.message, value.suggestion)
    }

    func warning(_ at: some Located, _ message: String, suggestion: String? = nil) {
        add(.warning, at, message, suggestion)
    }

    /// A problem with a word that should be one of `words`; suggests the nearest.
    func error(_ at: some Located, _ message: String, near word: String, among words: [String]) {
        var suggestion: String?
        if lookups < Self.mostLookups {
            lookups += 1
            suggestion = nearest(to: word, among: words).map { "did you mean \(quoted($0))?" }
        }
        add(.error, at, message, suggestion)
    }

    func error(_ fault: TextFault) { add(Diagnostic(file: file, fault: fault)) }

    /// A problem of another file.
    func add(_ diagnostic: Diagnostic) {
        guard seen.insert(diagnostic).inserted else { return }
        switch diagnostic.severity {
        case .error where errors.count >= ConfigError.mostDiagnostics: unlisted += 1
        case .error: errors.append(diagnostic)
        case .warning where kept.count < ConfigError.mostDiagnostics: kept.append(diagnostic)
        case .warning: break
        }
    }

    private func add(
        _ severity: Diagnostic.Severity, _ at: some Located, _ message: String,
        _ suggestion: String?
    ) {
        var diagnostic = Diagnostic(
            severity, file: file, place: at.place, path: at.path, message)
        diagnostic.suggestion = suggestion
        add(diagnostic)
    }

    /// The warnings, in the order of the file.
    var warnings: [Diagnostic] { Self.inOrder(kept) }

    /// Everything, in the order of the file; the errors first.
    var failure: ConfigError {
        var all = Self.inOrder(errors)
        if unlisted > 0 {
            let noun = unlisted == 1 ? "error is" : "errors are"
            all.append(Diagnostic(.error, file: file, "\(unlisted) more \(noun) not listed"))
        }
        return ConfigError(all + warnings)
    }

    private static func inOrder(_ diagnostics: [Diagnostic]) -> [Diagnostic] {
        // Stable: what stands at one place stays in the order it was found in.
        diagnostics.enumerated().sorted { left, right in
            let (a, b) = (left.element, right.element)
            return (a.line, a.column, left.offset) < (b.line, b.column, right.offset)
        }.map(\.element)
    }
}

/// Something with a place in the config.
protocol Located {
    var place: Place { get }
    /// The keys that lead there.
    var path: String { get }
}

/// A place in the config by itself.
struct Spot: Located, Hashable {
    var place: Place
    var path: String
}
