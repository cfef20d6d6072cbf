import Testing

/// A rule, a text it must find fault with, and the same text repaired.
struct RuleSample: Sendable, CustomTestStringConvertible {
    let rule: String
    var path = "Sources/Orchestrator/Sample.swift"
    let bad: String
    /// `line: message` of each finding.
    let expected: [String]
    let good: String

    var testDescription: String { rule }

    func file(_ text: String) -> SourceFile {
        SourceFile(path: path, text: text, isExecutable: true)
    }

    /// Independent of where the checkout lies.
    static let ownPathsOfOurs = Rule.ownPaths(root: "/tmp/x")

    static let all = shape + bans + project

    private static let shape = [
        RuleSample(
            rule: "line-length", bad: String(repeating: "x", count: 101),
            expected: ["1: 101 columns; break the line at 100"],
            good: String(repeating: "ä", count: 100)),
        RuleSample(
            rule: "file-length", path: "CShims/CProcess/x.c",
            bad: String(repeating: "\n", count: 402),
            expected: ["0: 402 lines, limit 400; one concept per file: split it"], good: "\n"),
        RuleSample(
            rule: "function-shape", bad: longFunction(lines: 71),
            expected: [
                "1: f has 71 lines, limit 70; one function branches, leaves are pure: "
                    + "move the leaves out"
            ], good: longFunction(lines: 70)),
        RuleSample(
            rule: "function-shape",
            bad: "init(a: (Int, Int), b: [Int: Int] = [:], c: Int, d: Int, e: Int, f: Int) {}",
            expected: ["1: init has 6 parameters, limit 5; what goes together is a type"],
            good: "protocol P { func f(a: Int, b: Int)\n    init() }\nfunc g() {}"),
        RuleSample(
            rule: "function-shape", path: "CShims/CProcess/x.c",
            bad: """
                static int deep(int a, int b, int c, int d, int e, int f) {
                    if (a) {
                        for (;;) {
                            while (b) {
                                switch (c) { }
                            }
                        }
                    } else if (d) { }
                }
                """,
            expected: ["1: deep nests 4 deep, limit 3; leave early, or name the inner part"],
            good: "int f(void) {\n    if (g()) {\n    }\n}"),
        RuleSample(
            rule: "module-names", bad: "public enum EventLoop {}",
            expected: ["1: EventLoop is a module: a type of that name hides everything else in it"],
            good: "public enum EventLoops {}  // not struct Stoic"),
        RuleSample(
            rule: "imports", path: "Sources/Simulation/x.swift",
            bad: "import Stoic\npublic import EventLoop\n@testable import struct Glibc.stat",
            expected: [
                "2: Simulation may not import EventLoop, only: Stoic",
                "3: Simulation may not import Glibc, only: Stoic",
            ], good: "public import Stoic\n// import EventLoop"),
        RuleSample(
            rule: "documentation",
            bad: """
                public enum E {
                    case a
                    /// Said.
                    case b
                    public func f() -> Int { switch self { case .a: 1; case .b: 2 } }
                }
                """,
            expected: [1, 2, 5].map {
                "\($0): public without a doc comment: meaning, units, bounds, errors"
            },
            good: """
                /// Said.
                @frozen
                public enum E { }
                public extension E { }
                extension E { public var description: String { "" } }
                """),
    ]

    private static let bans = [
        RuleSample(
            rule: "swallowed-error", bad: "_ = try? f()",
            expected: [
                "1: try?: handle it, or write the `catch` that says why it does not matter"
            ], good: "// try? \n\"try?\""),
        RuleSample(
            rule: "trap-on-error", bad: "x = try! f()\ny = z as! Int",
            expected: [
                "1: try!: throw, or make the failure a value",
                "2: as!: throw, or make the failure a value",
            ], good: "y = z as? Int\naliases != b"),
        RuleSample(
            rule: "unchecked", bad: "final class C: @unchecked Sendable {}",
            expected: [
                "1: @unchecked Sendable: a `Mutex`, a value, or one owning thread; "
                    + "the compiler must be able to see it"
            ], good: "final class C: Sendable {}"),
        RuleSample(
            rule: "task-sleep", bad: "await Task.sleep(for: x)",
            expected: [
                "1: Task.sleep: an alarm or the ambient clock: it saturates, and a test can move it"
            ], good: "await clock.sleep(for: x)"),
        RuleSample(
            rule: "detached-task", bad: "Task.detached { }",
            expected: ["1: Task.detached: work belongs to a scope that awaits it"],
            good: "group.addTask { }"),
        RuleSample(
            rule: "print", bad: "print(1)",
            expected: ["1: print(: return the text; only the command line prints"],
            good: "blueprint(1)"),
        RuleSample(
            rule: "foundation", bad: "import FoundationEssentials",
            expected: ["1: import Foundation: import Glibc"], good: "import Glibc"),
        RuleSample(
            rule: "wait-for-any", bad: "waitpid(-1, &s, 0)",
            expected: ["1: waitpid(-1: waitid on the pidfd of the child meant"],
            good: "waitpid(pid, &s, 0)"),
        RuleSample(
            rule: "sleep", path: "Tests/Fixtures/x/x.c", bad: "sleep(1);\n  usleep(1);",
            expected: [
                "1: sleep(: wait for the event: poll(2) with a deadline",
                "2: usleep(: wait for the event: poll(2) with a deadline",
            ], good: "clock_sleep(1);"),
        RuleSample(
            rule: "force-unwrap", bad: "let a = b!\nlet c: Int! = d()![0]",
            expected: [
                "1: force unwrap: `guard let`, or `#require` in a test",
                "2: force unwrap: `guard let`, or `#require` in a test",
            ], good: "a != b\n!c\nd!=e"),
        RuleSample(
            rule: "probe-by-signal", bad: "let alive = kill(pid, 0) == 0",
            expected: ["1: kill(pid, 0) is true of a zombie and of a stranger: ask the pidfd"],
            good: "kill(pid, SIGTERM)"),
        RuleSample(
            rule: "unfinished", bad: "// TODO: more\n// FIXME",
            expected: [
                "1: TODO: finish it, or name its issue: TODO(#123)",
                "2: FIXME: finish it, or name its issue: FIXME(#123)",
            ], good: "// TODO(#12): more"),
        RuleSample(
            rule: "sleeping-script", path: "scripts/x", bad: "  sleep 1\n",
            expected: [
                "1: sleep: wait for the event, with a bound: orchestrator wait NAME --for ready"
            ], good: "# sleep 1\n"),
        RuleSample(
            rule: "engine-is-synchronous", bad: "func f() async {\n    Task { }\n}",
            expected: ["async ", "Task {"].enumerated().map {
                "\($0.offset + 1): \($0.element): the engine is one thread with callbacks; "
                    + "blocking work goes to the loop's pool"
            }, good: "uv_async_init()\nmyTask { }"),
    ]

    private static let project = [
        RuleSample(
            rule: "time-limits", path: "Tests/XTests/x.swift",
            bad: "@Suite(\"X\")\nstruct X {",
            expected: [
                "1: a suite without a bound: @Suite(\"…\", .timeLimit(.minutes(1)))"
            ], good: "@Suite(\n    \"X\",\n    .timeLimit(.minutes(1)))\nstruct X {"),
        RuleSample(
            rule: "changelog", path: "CHANGELOG.md",
            bad: "# Changes\n\n## 0.1.0 (soon)\n\nText.\n\n## 0.0.1\n",
            expected: [
                "1: begins with `# Changelog`",
                "3: first section: `## Unreleased`",
                "7: a release reads `## 1.2.3, 2026-01-31`",
                "5: an entry begins with `- ` and goes on indented by two",
            ],
            good: "# Changelog\n\n## Unreleased\n\n- A.\n  B.\n\n## 0.1.0, 2026-01-31\n"),
        RuleSample(
            rule: "scripts", path: "scripts/x", bad: "set -eu\n", expected: ["0: no `#!` line"],
            good: "#!/bin/sh\n"),
        RuleSample(
            rule: "own-paths", bad: "// see /home/me/x",
            expected: [
                "1: /home/…: a path of one machine; say what it stands for"
            ], good: "// see ~/x and x/home/y"),
        RuleSample(
            rule: "safety", path: "Sources/Stoic/x.swift",
            bad: "// SAFETY: elsewhere.\n\nfunc f() {\n    unsafe g()\n}\nlet a = unsafe b",
            expected: [4, 6].map {
                "\($0): unsafe without its reason: `// SAFETY: …` at the head of its function"
            },
            good: """
                /// Said.
                // SAFETY: said.
                @inline(never)
                func f() { unsafe g() }

                var a: Int {
                    // SAFETY: said.
                    unsafe b
                }
                @unsafe func c() { unsafely() }
                """),
        RuleSample(
            rule: "contract-headings", path: "docs/design/01-x.md",
            bad: "## Semantics\n## Cancellation\n## Errors and isolation\n## Defaults\n## Events\n",
            expected: ["0: a contract says its failure: add the heading"],
            good: "## Semantics\n## Cancellation\n## Errors, isolation\n## Defaults\n"
                + "### Failure modes\n## Events\n"),
        RuleSample(
            rule: "contract-events", path: "docs/design/20-x.md",
            bad: "| XXX-1 | a | b | silent |\n| XXX-2 | a | b |\n| XXX-3 | a | b | silent: |\n",
            expected: [
                "1: XXX-1 names no event: `name`, those of …, or silent: why",
                "2: XXX-2: | id | what happens if… | expected | events |",
                "3: XXX-3 names no event: `name`, those of …, or silent: why",
            ],
            good: "| XXX-1 | a | b | `x.done` |\n| XXX-2 | a | b | silent: it is thrown |\n"
                + "| XXX-3 | a | b | those of the graph |\n| no row | a |\n"),
    ]

    private static func longFunction(lines: Int) -> String {
        "func f() {\n" + String(repeating: "    g()\n", count: lines - 2) + "}\n"
    }
}
