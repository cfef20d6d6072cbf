extension CommandTable {
    /// `simulate`: the config under incidents, in virtual time.
    static let simulateVerb = CommandDefinition(
        .simulate, "Play what would happen to this project, in virtual time.",
        discussion: [
            "The rules that run a project decide here too; its processes are imaginary and behave "
                + "as the options, x-simulate of the config, or a recorded log say. Nothing is "
                + "started and no file is written. Times count from `up`, sleep included; an "
                + "option without one holds from the begin. Options that make something happen "
                + "may be repeated.",
            "It prints what would be decided and when, the state of each service at the end with "
                + "its reason, and how long the start and a stop then take. What `up` would exit "
                + "with is in the answer; the verb itself exits with 0, or with 70 when a rule "
                + "was broken, which is a defect of ours.",
        ],
        options: incidentOptions + [
            OptionDefinition(
                .until, value: .required("duration", .duration),
                "Watch for so long at most; quiet ends it earlier. Default 10m."),
            OptionDefinition(
                .from, value: .required("events.jsonl", .file),
                "Take the durations of starts and stops from these events: what `events --json` "
                    + "prints, or the file of the state directory. The longest seen counts."),
            OptionDefinition(
                .seed, value: .required("number", .count),
                "Where the jitter of delays comes from. Default 1."),
            OptionDefinition(
                .seeds, value: .required("count", .count),
                "Play it so many times, each under random incidents of its own, beside those "
                    + "given, and show the worst."),
        ]
    ).exits(.config).example(
        "orchestrator simulate --kill db@5s",
        "orchestrator simulate --hang web --stop 30s",
        "orchestrator simulate --sleep 10m@1m --until 1h",
        "orchestrator simulate --seeds 1000")

    private static let incidentOptions = [
        incident(.kill, .kill, "Its main process is killed, by somebody else."),
        incident(.exit, .exit, "Its main process exits with this code."),
        incident(.hang, .hang, "It does nothing any more, and obeys nothing but SIGKILL."),
        incident(.slowStart, .slowStart, "It takes so long to become ready, or to complete."),
        incident(.slowStop, .slowStop, "It takes so long to end when it is told to."),
        incident(.ignoreTerm, .ignoreTerm, "Only SIGKILL ends it."),
        incident(.escape, .escape, "It leaves a process behind when it ends."),
        incident(.unkillable, .unkillable, "It outlives even SIGKILL."),
        incident(.failLaunch, .failLaunch, "So many of its launches fail."),
        incident(.notReady, .notReady, "It says that it is not ready."),
        incident(.lie, .lie, "It says what is not so: ready, not ready, stopping."),
        incident(.flood, .flood, "It sends a thousand messages in a second."),
        incident(.sleep, .sleep, "The machine sleeps."),
        incident(.pause, .pause, "The engine itself stands still: stopped, frozen, starved."),
        incident(.start, .start, "Somebody starts it by name."),
        incident(.stop, .stop, "Somebody stops the project, or a service by name."),
        incident(.down, .down, "Somebody takes it down by name."),
        incident(.restart, .restart, "Somebody restarts it by name."),
        incident(.force, .force, "Somebody stops the project and does not want to wait."),
    ]

    private static func incident(
        _ name: OptionName, _ form: IncidentForm, _ help: String
    ) -> OptionDefinition {
        OptionDefinition(name, value: .required(form.placeholder, .incident(form)), help)
    }
}
