/// The whole command line as data.
enum CommandTable {
    /// The name of the program.
    static let program = "orchestrator"

    /// One line about the program.
    static let overview =
        "Start services in the order of their needs, keep them running, stop them in reverse."

    /// Options every verb understands, before or after it. Where a verb has a one-letter option of
    /// its own, that one wins after the verb: `orchestrator -f dev.yaml logs -f`.
    static let globals: [OptionDefinition] = [
        OptionDefinition(
            .file, short: "f", value: .required("file", .file),
            "The config. Without it, orchestrator.yaml is looked for from the working directory "
                + "upwards."),
        OptionDefinition(
            .json, "Answer with one JSON object, or one per line, and report errors as JSON."),
        OptionDefinition(
            .color, value: .required("when", .choice(["auto", "always", "never"])),
            "When to colour: auto (on a terminal, unless NO_COLOR is set), always, never."),
        OptionDefinition(.version, "Show the version."),
        OptionDefinition(.help, short: "h", "Show help information."),
    ]

    /// The verbs, in the order of the help.
    static let commands: [CommandDefinition] = running + single + reading + watching + about

    /// The definition of a verb.
    static func command(_ verb: Verb) -> CommandDefinition {
        // Every verb has a definition: a test walks through all of them.
        commands.first { $0.verb == verb } ?? CommandDefinition(verb, "")
    }

    /// Titles and verbs of the overview.
    static let groups: [(title: String, verbs: [CommandDefinition])] = [
        ("RUN A PROJECT", running), ("CHANGE WHAT RUNS", single), ("READ A CONFIG", reading),
        ("WATCH AND TELL", watching), ("ABOUT", about),
    ]

    /// `NAME…`, optional: everything without it.
    static func names(_ help: String) -> ArgumentDefinition {
        ArgumentDefinition("name", .service, .any, help)
    }

    private static let about: [CommandDefinition] = [
        CommandDefinition(
            .version, "Show the version of this program and of the engine that runs.",
            discussion: [
                "With --json, also what the system offers and which fallbacks are in force."
            ]),
        CommandDefinition(
            .completion, "Print a completion script for a shell.",
            discussion: [
                "The script completes verbs, options and the services of the config that is found."
            ],
            arguments: [
                ArgumentDefinition(
                    "shell", .choice(["bash", "zsh", "fish"]), .optional, "bash, zsh or fish.")
            ],
            options: [
                OptionDefinition(.services, hidden: true, "Print the names of the services.")
            ]
        ).example(
            "source <(orchestrator completion bash)",
            "orchestrator completion zsh > ~/.zfunc/_orchestrator",
            "orchestrator completion fish > ~/.config/fish/completions/orchestrator.fish"),
        CommandDefinition(
            .help, "Show help for the program or for one verb.",
            arguments: [
                ArgumentDefinition(
                    "subcommand", .choice(Verb.allCases.map(\.rawValue)), .optional, "The verb.")
            ],
            options: [
                OptionDefinition(.reference, hidden: true, "Print docs/reference/cli.md.")
            ]),
    ]
}
