extension CommandTable {
    /// The verbs that need a config and no running engine.
    static let reading: [CommandDefinition] = [
        CommandDefinition(
            .check, "Check the config and compute the longest start and stop.",
            discussion: [
                "Two cases: one service hangs, and all hang (every service takes all the time it "
                    + "may). Attempts, the stops between them and the backoff are counted along "
                    + "the critical path. It warns when one hanging service would cut another "
                    + "one short of its stopTimeout. Warnings do not change the exit code."
            ]
        ).exits(.config),
        CommandDefinition(
            .graph, "Show what needs what.",
            options: [
                OptionDefinition(
                    .format, value: .required("format", .choice(["text", "dot", "mermaid"])),
                    "text (default), dot (Graphviz) or mermaid.")
            ]
        ).exits(.config).example("orchestrator graph --format dot | dot -Tsvg > graph.svg"),
        simulateVerb,
        CommandDefinition(
            .config, "Show the config as it is understood, with every default."
        ).exits(.config),
        CommandDefinition(
            .schema, "Print the JSON Schema of the config, for editors."),
    ]

    /// The verbs that follow a running project, or talk to it from inside.
    static let watching: [CommandDefinition] = [
        CommandDefinition(
            .events, "Show what was decided, and why.",
            discussion: [
                "When nothing runs, what the latest run left on disk.",
                "After this verb, -f is --follow; name the config with --file, or before the verb.",
            ],
            options: [
                OptionDefinition(.follow, short: "f", "Show new events as they happen."),
                OptionDefinition(
                    .since, value: .required("id", .count), "Begin after the event with this id."),
            ]
        ).exits(.nothingRuns, .timedOut, .notPermitted, .config),
        CommandDefinition(
            .why, "Show why a service is in its state.",
            discussion: [
                "The last event about the service, and the chain of events it follows from, "
                    + "oldest first. When nothing runs, from what the latest run left on disk."
            ],
            arguments: [ArgumentDefinition("name", .service, .one, "The service.")]
        ).exits(.nothingRuns, .timedOut, .notPermitted, .config),
        CommandDefinition(
            .wait, "Wait until services are ready, stopped or completed.",
            discussion: [
                "1 when one cannot get there any more: it failed, gave up, was stopped, or the "
                    + "project ended."
            ],
            arguments: [someNames("The services.")],
            options: [
                OptionDefinition(
                    .condition,
                    value: .required("state", .choice(["ready", "stopped", "completed"])),
                    "What to wait for. Default ready."),
                OptionDefinition(
                    .timeout, value: .required("duration", .duration),
                    "Give up with 75 after this long. Default 1h."),
            ]
        ).exits(.serviceFailed, .nothingRuns, .timedOut, .notPermitted, .config).example(
            "orchestrator wait db --for ready --timeout 30s"),
        CommandDefinition(
            .notify, "Tell the supervisor about the service this runs in.",
            discussion: [
                "For shell scripts: it sends one message to NOTIFY_SOCKET, the protocol of "
                    + "sd_notify, so it works under any supervisor that has it. Without the "
                    + "variable it says so and exits with 69."
            ],
            arguments: [
                ArgumentDefinition(
                    "assignment", .assignment, .any,
                    "More fields, KEY=VALUE; VALUE_name=text is a value that it provides.")
            ],
            options: [
                OptionDefinition(.ready, "The service is ready (READY=1)."),
                OptionDefinition(
                    .status, value: .required("text", .text), "One line about its state."),
                OptionDefinition(.stopping, "The service is stopping (STOPPING=1)."),
                OptionDefinition(.reloading, "The service reads its config (RELOADING=1)."),
                OptionDefinition(.watchdog, "The service is alive (WATCHDOG=1)."),
                OptionDefinition(
                    .extend, value: .required("duration", .duration),
                    "It needs this much longer (EXTEND_TIMEOUT_USEC)."),
                OptionDefinition(
                    .pid, value: .optional("pid", .pid),
                    "Its main process (MAINPID). Default: the caller of this program."),
            ]
        ).exits(.nothingRuns, .timedOut, .notPermitted).example(
            "orchestrator notify --ready --status 'listening on 8080'",
            "orchestrator notify --ready VALUE_url=http://localhost:8080"),
    ]
}
