import Testing

/// The completion scripts in the shells they are for, asked as a Tab would ask them.
@Suite("Cases: completion", .timeLimit(.minutes(30)))
@BenchActor
struct CompletionCases {
    /// A shell, and how to ask it what it offers after a line.
    struct Shell: CustomTestStringConvertible {
        let name: String
        /// A script; `$1` is the file of the completion, `$2` the line.
        let ask: String
        var testDescription: String { name }
    }

    private nonisolated static let shells = [
        Shell(
            name: "bash",
            ask: """
                . "$1"
                read -ra COMP_WORDS <<<"$2"
                [[ $2 != *' ' ]] || COMP_WORDS+=('')
                COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                _orchestrator
                printf '%s\\n' "${COMPREPLY[@]}"
                """),
        Shell(name: "fish", ask: #"source $argv[1]; complete -C $argv[2] | cut -f 1"#),
    ]

    /// With the program under test in front.
    private static func path(_ bench: Bench) -> String {
        let folder = bench.identity.orchestrator.split(separator: "/").dropLast()
        return "/\(folder.joined(separator: "/")):/usr/bin:/bin"
    }

    /// What a shell offers after a line, sorted.
    private static func offers(_ shell: Shell, _ line: String, _ bench: Bench) async throws
        -> [String]
    {
        let script = bench.path("completion.\(shell.name)")
        try bench.write(
            try await bench.must("completion", shell.name).output,
            to: "completion.\(shell.name)")
        try bench.write(shell.ask, to: "ask.\(shell.name)")
        var launch = Launch([
            "/usr/bin/\(shell.name)", bench.path("ask.\(shell.name)"), script, line,
        ])
        launch.isOurs = false
        launch.environment["PATH"] = path(bench)
        let program = try bench.start(launch)
        #expect(try await bench.end(of: program) == .exited(0), "\(program.errors)")
        #expect(program.errors.isEmpty, "\(program.errors)")
        return program.output.split(whereSeparator: \.isNewline).map(String.init).sorted()
    }

    @Test("a Tab offers verbs, options, words and the services of the config", arguments: shells)
    func tab(shell: Shell) async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("web"), .puppet("web-cache"), .puppet("db")])
            #expect(
                try await Self.offers(shell, "orchestrator st", bench) == [
                    "start", "status", "stop",
                ])
            #expect(
                try await Self.offers(shell, "orchestrator restart we", bench) == [
                    "web", "web-cache",
                ])
            #expect(
                try await Self.offers(shell, "orchestrator logs --f", bench) == [
                    "--file", "--follow",
                ])
            #expect(
                try await Self.offers(shell, "orchestrator completion ", bench)
                    .filter { !$0.hasPrefix("-") } == ["bash", "fish", "zsh"])
        }
    }

    @Test("zsh reads the script, and it finds the services")
    func zsh() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("web"), .puppet("db")])
            let text = try await bench.must("completion", "zsh").output
            try bench.write(text, to: "_orchestrator")
            // What only exists inside a completion; the system's zshenv sets PATH anew.
            let ask = """
                PATH=\(Self.path(bench)); typeset -A opt_args; compdef() {}
                compadd() { local name=$2; print -l -- "${(@P)name}"; }
                source $1; _orchestrator_services
                """
            var launch = Launch([
                "/usr/bin/zsh", "-f", "-c", ask, "zsh",
                bench.path("_orchestrator"),
            ])
            launch.isOurs = false
            let program = try bench.start(launch)
            #expect(try await bench.end(of: program) == .exited(0), "\(program.errors)")
            #expect(program.output.split(separator: "\n").sorted() == ["db", "web"])
            launch.arguments = ["/usr/bin/zsh", "-n", bench.path("_orchestrator")]
            let check = try bench.start(launch)
            #expect(try await bench.end(of: check) == .exited(0), "\(check.errors)")
        }
    }
}
