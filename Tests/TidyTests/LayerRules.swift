/// Who may import whom: the rows of `docs/architecture.md`.
enum Layers {
    /// Modules of ours, each with what it may import beside Swift's own.
    static let rows: [String: Set<String>] = [
        "CProcess": [], "CLifecycle": [],
        "Stoic": ["Synchronization"],
        "StoicProcess": ["Stoic", "Glibc", "Synchronization"],
        "StoicLog": ["Stoic", "Glibc", "Synchronization"],
        "StoicTesting": ["Stoic", "Testing", "Glibc", "Synchronization"],
        "EventLoop": ["CUV", "CProcess", "Glibc", "Synchronization"],
        "ServiceKit": ["CLifecycle", "Glibc"],
        "Manifest": ["Stoic", "CYAML", "CJSON", "Glibc"],
        "Simulation": ["Stoic"],
        "Orchestrator": [
            "Stoic", "EventLoop", "CLifecycle", "Manifest", "CProcess", "CUV", "CHTTPParser",
            "CJSON", "Glibc", "Synchronization",
        ],
        "StoicSubprocess": ["Stoic", "Orchestrator", "EventLoop", "Glibc", "Synchronization"],
        "OrchestratorCLI": [
            "Stoic", "EventLoop", "CLifecycle", "Manifest", "Orchestrator", "Simulation",
            "CProcess", "CJSON", "Glibc", "Synchronization",
        ],
        "orchestrator": ["OrchestratorCLI"],
    ]
}

extension Rule {
    static let imports = Rule.lines("imports") { file, index in
        guard file.isSwift, let module = file.module,
            let imported = importedModule(file.code[index])
        else { return nil }
        guard let allowed = Layers.rows[module] else {
            return "\(module) has no row: add it to Layers.rows and docs/architecture.md"
        }
        guard !allowed.contains(imported) else { return nil }
        let list = allowed.sorted().joined(separator: ", ")
        return "\(module) may not import \(imported), only: \(list.isEmpty ? "nothing" : list)"
    }

    private static func importedModule(_ line: Substring) -> String? {
        var words = line.split(separator: " ")[...]
        while let word = words.first, word != "import" {
            guard
                word.hasPrefix("@") || ["public", "internal", "package", "private"].contains(word)
            else { return nil }
            words = words.dropFirst()
        }
        let kinds: Set<Substring> = ["struct", "class", "enum", "func", "var", "let", "protocol"]
        words = words.dropFirst()
        if let word = words.first, kinds.contains(word) { words = words.dropFirst() }
        return words.first.map { String($0.prefix { $0 != "." }) }
    }

    static let moduleNames = Rule.lines("module-names") { file, index in
        guard file.isSwift else { return nil }
        let words = file.code[index].split { !($0.isLetter || $0.isNumber || $0 == "_") }
        let kinds: Set<Substring> = ["struct", "class", "enum", "actor", "protocol", "typealias"]
        for (kind, name) in zip(words, words.dropFirst())
        where kinds.contains(kind) && Layers.rows[String(name)] != nil {
            return "\(name) is a module: a type of that name hides everything else in it"
        }
        return nil
    }
}
