/// What a changelog says about breaks of the interface that come with the next release.
struct Announcements {
    /// The newest release.
    let newest: Release
    /// Paths in backticks of the entries under *Unreleased* that begin with `Breaking`.
    let broken: Set<String>

    init(changelog: String) {
        var entries: [String] = []
        var newest = Release.none
        for line in changelog.split(separator: "\n") {
            if line.hasPrefix("## "), line != "## Unreleased" {
                newest = Release(String(line.dropFirst(3).prefix { $0 != "," })) ?? .none
                break
            }
            if line.hasPrefix("- ") {
                entries.append(String(line.dropFirst(2)))
            } else if line.hasPrefix("  "), let last = entries.popLast() {
                entries.append(last + " " + line.drop { $0 == " " })
            }
        }
        self.newest = newest
        broken = Set(
            entries.filter { $0.hasPrefix("Breaking") }.flatMap { entry in
                entry.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                    .filter { $0.offset % 2 == 1 }.map { String($0.element) }
            })
    }

    /// Whether `path`, or what it is a member of, is named.
    func cover(_ path: String) -> Bool {
        if broken.contains(path) { return true }
        // The dots of labels and types in parentheses separate nothing.
        let names = path.prefix { $0 != "(" }.split(separator: ".")
        return (1..<max(1, names.count)).contains { count in
            broken.contains(names.prefix(count).joined(separator: "."))
        }
    }
}
