extension Rule {
    /// A spelling that is refused in code, and what to write instead.
    private static func ban(
        _ name: String, _ spellings: [String], instead: String,
        where applies: @escaping @Sendable (SourceFile) -> Bool = { $0.isSwift }
    ) -> Rule {
        Rule.lines(name) { file, index in
            guard applies(file) else { return nil }
            return spellings.first { contains(file.code[index], $0) }.map { "\($0): \(instead)" }
        }
    }

    /// Whether `line` has `spelling` at the start of a word, other than to declare it.
    private static func contains(_ line: Substring, _ spelling: String) -> Bool {
        line.ranges(of: spelling).contains { range in
            guard range.lowerBound > line.startIndex, spelling.first?.isLetter == true
            else { return true }
            guard !line[..<range.lowerBound].hasSuffix("func ") else { return false }
            let before = line[line.index(before: range.lowerBound)]
            return !(before.isLetter || before.isNumber || before == "_" || before == ".")
        }
    }

    /// Each prints its replacement.
    static let bans: [Rule] = [
        ban(
            "swallowed-error", ["try?"],
            instead: "handle it, or write the `catch` that says why it does not matter"),
        ban("trap-on-error", ["try!", "as!"], instead: "throw, or make the failure a value"),
        ban(
            "unchecked", ["@unchecked Sendable", "nonisolated(unsafe)"],
            instead: "a `Mutex`, a value, or one owning thread; the compiler must be able to see it"
        ),
        ban(
            "task-sleep", ["Task.sleep"],
            instead: "an alarm or the ambient clock: it saturates, and a test can move it"),
        ban("detached-task", ["Task.detached"], instead: "work belongs to a scope that awaits it"),
        ban(
            "print", ["print("], instead: "return the text; only the command line prints",
            where: { $0.isUnder("Sources") && $0.module != "OrchestratorCLI" }),
        ban(
            "foundation", ["import Foundation"], instead: "import Glibc",
            where: { $0.isSwift && $0.isUnder("Sources") }),
        ban(
            "wait-for-any", ["waitpid(-1"], instead: "waitid on the pidfd of the child meant",
            where: { $0.isCode }),
        ban(
            "sleep", ["sleep(", "usleep(", "nanosleep(", "Thread.sleep"],
            instead: "wait for the event: poll(2) with a deadline", where: { $0.isCode }),
        forceUnwrap, probeBySignal, unfinished, sleepingScript,
    ]

    private static let forceUnwrap = Rule.lines("force-unwrap") { file, index in
        guard file.isSwift else { return nil }
        let line = file.code[index]
        for mark in line.indices where line[mark] == "!" && mark > line.startIndex {
            let before = line[line.index(before: mark)]
            let next = line.index(after: mark)
            let isOperator = next < line.endIndex && line[next] == "="
            if before.isLetter || before.isNumber || ")]}_".contains(before), !isOperator {
                return "force unwrap: `guard let`, or `#require` in a test"
            }
        }
        return nil
    }

    private static let probeBySignal = Rule.lines("probe-by-signal") { file, index in
        let line = file.code[index]
        guard file.isCode, let call = line.firstRange(of: "kill(") else { return nil }
        let rest = line[call.upperBound...]
        guard let end = rest.firstIndex(of: ")"), rest[..<end].hasSuffix(", 0") else { return nil }
        return "kill(pid, 0) is true of a zombie and of a stranger: ask the pidfd"
    }

    private static let unfinished = Rule.lines("unfinished") { file, index in
        guard file.isCode, !file.path.hasPrefix("Tests/TidyTests/") else { return nil }
        let line = file.lines[index]
        for word in ["TODO", "FIXME"] where line.contains(word) && !line.contains(word + "(#") {
            return "\(word): finish it, or name its issue: \(word)(#123)"
        }
        return nil
    }

    private static let sleepingScript = Rule.lines("sleeping-script") { file, index in
        guard file.isUnder("scripts", ".ci") else { return nil }
        let line = file.lines[index].drop { $0 == " " }
        guard line.hasPrefix("sleep ") else { return nil }
        return "sleep: wait for the event, with a bound: orchestrator wait NAME --for ready"
    }

    /// The engine has no tasks (decision 0012).
    static let engineIsSynchronous = Rule.lines("engine-is-synchronous") { file, index in
        let modules = ["EventLoop", "Manifest", "Orchestrator", "OrchestratorCLI", "orchestrator"]
        guard let module = file.module, modules.contains(module) else { return nil }
        let words = [
            "Task {", "Task(", "async ", "await ", "actor ", "DispatchQueue", "@MainActor",
        ]
        return words.first { contains(file.code[index], $0) }.map {
            "\($0): the engine is one thread with callbacks; blocking work goes to the loop's pool"
        }
    }
}
