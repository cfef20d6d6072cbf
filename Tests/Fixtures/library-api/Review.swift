import Foundation

/// The comparison of several modules, in words.
struct Review {
    struct Module {
        let name: String
        let file: String
        let current: Outline
        let isRecorded: Bool
        let comparison: Comparison
    }

    let announcements: Announcements
    let modules: [Module]

    init(graphs: String, baselines: String, changelog: String, modules names: [String]) throws {
        let announcements = Announcements(changelog: changelog)
        self.announcements = announcements
        modules = try names.map { name in
            let file = "\(baselines)/\(name).txt"
            let isRecorded = FileManager.default.fileExists(atPath: file)
            let text = isRecorded ? try String(contentsOfFile: file, encoding: .utf8) : ""
            let recorded = Outline(text: text)
            let current = Outline(try SymbolGraph.load(name, from: graphs))
            return Module(
                name: name, file: file,
                current: current.dated(by: recorded, newest: announcements.newest),
                isRecorded: isRecorded,
                comparison: Comparison(
                    from: recorded, to: current, newest: announcements.newest))
        }
    }

    /// Says what is new and what is broken; 1 if there is anything.
    func check() -> Int32 {
        let isBroken = reportBreaks()
        var isNew = false
        for module in modules where !module.comparison.additions.isEmpty {
            isNew = true
            print("\(module.name): new, and not in \(module.file):")
            for addition in module.comparison.additions { print("  + \(addition)") }
        }
        let isLost = modules.contains { !$0.comparison.breaks.isEmpty }
        if !isBroken {
            for module in modules {
                for lost in module.comparison.breaks { print("\(module.name): ! \(lost)") }
            }
        }
        if !isBroken, isNew || isLost {
            print("Record it with the change that makes it: scripts/api-check --record")
        }
        if !isBroken, !isNew, !isLost { print("the interface is what is recorded") }
        return isBroken || isNew || isLost ? 1 : 0
    }

    /// Writes the outlines down, unless something is broken that nothing announces.
    func record() throws -> Int32 {
        guard !reportBreaks() else { return 1 }
        for module in modules {
            for addition in module.comparison.additions { print("\(module.name): + \(addition)") }
            for broken in module.comparison.breaks { print("\(module.name): ! \(broken)") }
            let head = """
                # The public interface of \(module.name). Written by scripts/api-check --record.

                """
            try (head + module.current.text).write(
                toFile: module.file, atomically: true, encoding: .utf8)
        }
        return 0
    }

    /// Whether there are breaks that are not announced, or cannot be.
    private func reportBreaks() -> Bool {
        var isBroken = false
        for module in modules {
            // Before the first release there is nobody whose program could break.
            guard announcements.newest != .none else { break }
            let wrong = module.comparison.breaks.filter {
                !($0.mayBeAnnounced && announcements.cover($0.path))
            }
            guard !wrong.isEmpty else { continue }
            isBroken = true
            print("\(module.name): clients that compiled do no longer:")
            for broken in wrong { print("  - \(broken)") }
        }
        if isBroken {
            print(
                """
                Keep what there was, beside the new and marked deprecated, for one minor version. If
                that is impossible, announce it under Unreleased in CHANGELOG.md, each declaration
                (or what it is a member of) in backticks:
                - Breaking: `Type.member(label:)` is now …
                Then run scripts/api-check --record.
                """)
        }
        return isBroken
    }
}
