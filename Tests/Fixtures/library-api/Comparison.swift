/// What has become of an interface since it was recorded.
struct Comparison {
    struct Break: Hashable, CustomStringConvertible {
        let path: String
        let what: String
        /// Whether an announcement would make it right.
        let mayBeAnnounced: Bool
        var description: String { "\(path): \(what)" }
    }

    /// New declarations, and declarations that say more than before.
    private(set) var additions: [String] = []
    /// What clients that compiled do no longer.
    private(set) var breaks: [Break] = []

    init(from recorded: Outline, to current: Outline, newest: Release) {
        let before = Dictionary(grouping: recorded.entries, by: \.path)
        let after = Dictionary(grouping: current.entries, by: \.path)
        for (path, entries) in before {
            compare(path, entries, after[path, default: []], newest)
        }
        for (path, entries) in after {
            let known = before[path, default: []]
            for entry in entries where !known.contains(where: { $0.text == entry.text }) {
                add(entry, before, isChange: !known.isEmpty)
            }
        }
        additions.sort()
        breaks.sort { ($0.path, $0.what) < ($1.path, $1.what) }
    }

    private mutating func compare(
        _ path: String, _ old: [Outline.Entry], _ new: [Outline.Entry], _ newest: Release
    ) {
        for entry in old {
            if let same = new.first(where: { $0.text == entry.text }) {
                compareNotes(entry, same)
            } else if case .after(let release) = entry.deprecation,
                !newest.isMinorVersionAfter(release)
            {
                let until = "deprecated after \(release), so it stays until a minor version later"
                breaks.append(
                    Break(path: path, what: "removed, but \(until)", mayBeAnnounced: false))
            } else {
                breaks.append(
                    Break(
                        path: path, what: Self.loss(of: entry, now: new), mayBeAnnounced: true))
            }
        }
    }

    private static func loss(of entry: Outline.Entry, now: [Outline.Entry]) -> String {
        let conformance = "conforms to "
        if entry.text.hasPrefix(conformance) {
            return "no longer \(entry.text)"
        }
        let declarations = now.filter { !$0.text.hasPrefix(conformance) }
        guard declarations.count == 1 else { return "removed: \(entry.text)" }
        return "changed from `\(entry.text)` to `\(declarations[0].text)`"
    }

    private mutating func compareNotes(_ old: Outline.Entry, _ new: Outline.Entry) {
        if old.notes.contains("may grow"), !new.notes.contains("may grow") {
            breaks.append(
                Break(
                    path: old.path, what: "no longer says that cases may be added",
                    mayBeAnnounced: true))
        } else if new.notes.contains("required"), !old.notes.contains("required") {
            breaks.append(
                Break(
                    path: old.path, what: "lost its default: conforming types must have it",
                    mayBeAnnounced: true))
        } else if old.notes != new.notes || (old.deprecation == nil) != (new.deprecation == nil) {
            let now = new.deprecation == nil ? "" : " [deprecated]"
            additions.append(
                "\(new.path) | \(new.text)" + new.notes.map { " [\($0)]" }.joined() + now)
        }
    }

    private mutating func add(
        _ entry: Outline.Entry, _ before: [String: [Outline.Entry]], isChange: Bool
    ) {
        let parent = Self.parent(of: entry.path)
        let owner = before[parent, default: []]
        if entry.text.hasPrefix("case "), !owner.isEmpty,
            !owner.contains(where: { $0.notes.contains("may grow") })
        {
            breaks.append(
                Break(
                    path: entry.path,
                    what: "a new case of an enum that does not say \"New cases may be added\"",
                    mayBeAnnounced: true))
        } else if entry.notes.contains("required"), !owner.isEmpty, !isChange {
            breaks.append(
                Break(
                    path: entry.path, what: "a new requirement without a default",
                    mayBeAnnounced: true))
        } else {
            additions.append("\(entry.path) | \(entry.text)")
        }
    }

    /// `Scope` of `Scope.fork(_:onFailure:_:)`.
    private static func parent(of path: String) -> String {
        path.prefix { $0 != "(" }.split(separator: ".").dropLast().joined(separator: ".")
    }
}
