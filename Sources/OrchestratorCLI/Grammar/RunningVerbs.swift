extension CommandTable {
    /// The verbs that start and stop a project and look at it.
    static let running: [CommandDefinition] = [
        CommandDefinition(
            .up, "Start services and what they need.",
            discussion: [
                "Without names, every service with start: auto. In the foreground the output of "
                    + "the services is shown until everything has ended; Ctrl-C stops them in "
                    + "order, a second Ctrl-C kills them.",
                "Where the project runs already, up with names, --detach or --wait asks the "
                    + "running engine; plain up refuses, because it could not show the output, "
                    + "and exits with 77.",
                "Its exit code is the first that holds: 3, the essential service's own code "
                    + "(128 + n for a signal), 1, 130, 0. A stop by SIGTERM or down is a 0.",
                "SIGTERM and SIGINT stop it, a second SIGINT kills; SIGHUP reloads the config of "
                    + "an engine in the background, and stops one whose terminal is gone.",
            ],
            arguments: [names("The services to start. Without names: all with start: auto.")],
            options: [
                OptionDefinition(
                    .detach, short: "d",
                    "Run in the background; return when the control socket answers."),
                OptionDefinition(
                    .wait, value: .optional("duration", .duration),
                    "Run in the background; return when everything started is ready, with 1 when "
                        + "something cannot become so, or with 75 after the duration; what runs "
                        + "is left running."),
                OptionDefinition(
                    .detachedChild, hidden: true, "The background half of --detach."),
            ]
        ).exits(
            .serviceFailed, .survivors, .timedOut, .notPermitted, .config, .interrupted
        ).example(
            "orchestrator up", "orchestrator up -d --wait=2m",
            "orchestrator -f ci.yaml up api"),
        CommandDefinition(
            .down, "Stop services, and forget that they were wanted.",
            discussion: [
                "Without names the whole project ends. The answer is 0 only when every process "
                    + "of every service is gone; otherwise the survivors are named and it is 3."
            ],
            arguments: [names("The services to stop, with what needs them. Without names: all.")],
            options: [
                OptionDefinition(.now, "Kill everything at once instead of asking first.")
            ]
        ).exits(.survivors, .nothingRuns, .timedOut, .notPermitted, .config),
        CommandDefinition(
            .status, "Show the services, their state and the reason for it.",
            arguments: [names("The services to show. Without names: all.")]
        ).exits(.nothingRuns, .timedOut, .notPermitted, .config),
        CommandDefinition(
            .logs, "Show the output of services.",
            discussion: [
                "When nothing runs, what earlier runs left on disk, as far as it is kept.",
                "After this verb, -f is --follow; name the config with --file, or before the verb.",
            ],
            arguments: [names("The services to show. Without names: all.")],
            options: [
                OptionDefinition(.follow, short: "f", "Show new lines as they are written."),
                OptionDefinition(
                    .lines, short: "n", value: .required("count", .count),
                    "Begin this many lines before the end. Default 100."),
                OptionDefinition(
                    .since, value: .required("time", .moment),
                    "Begin at this age (10m) or time (2026-01-31T12:00:00Z). With --lines, the "
                        + "last of them."),
                OptionDefinition(
                    .timestamps, short: "t", "Begin each line with its time of day."),
            ]
        ).exits(.nothingRuns, .timedOut, .notPermitted, .config).example(
            "orchestrator logs -f -n 20 api"),
    ]

    /// The verbs that change single services of a running project.
    static let single: [CommandDefinition] = [
        CommandDefinition(
            .start, "Start services and what they need.",
            discussion: ["A oneshot that has completed runs again."],
            arguments: [someNames("The services to start.")]
        ).exits(.serviceFailed, .nothingRuns, .timedOut, .notPermitted, .config),
        CommandDefinition(
            .stop, "Stop services after what needs them.",
            discussion: [
                "They stay wanted: what needed them waits and comes back with start. To drop the "
                    + "wish as well, use down."
            ],
            arguments: [someNames("The services to stop.")]
        ).exits(.survivors, .nothingRuns, .timedOut, .notPermitted, .config),
        CommandDefinition(
            .restart, "Stop services and start them again.",
            discussion: ["What needs them runs on and is told by its onNeedLost."],
            arguments: [someNames("The services to restart.")]
        ).exits(.serviceFailed, .survivors, .nothingRuns, .timedOut, .notPermitted, .config),
        CommandDefinition(
            .signal, "Send a signal to a service.",
            discussion: ["1 when the service does not run."],
            arguments: [
                ArgumentDefinition("name", .service, .one, "The service."),
                ArgumentDefinition("signal", .signal, .one, "A name (HUP, SIGHUP) or a number."),
            ],
            options: [
                OptionDefinition(
                    .to, value: .required("whom", .choice(["main", "group", "tree"])),
                    "Whom it reaches: the main process, its process group or every process of "
                        + "the service. Default main.")
            ]
        ).exits(.serviceFailed, .nothingRuns, .timedOut, .notPermitted, .config).example(
            "orchestrator signal db HUP", "orchestrator signal workers USR1 --to tree"),
        CommandDefinition(
            .reload, "Read the config again and carry out what changed.",
            discussion: [
                "A config with errors changes nothing. Services that did not change keep running."
            ],
            options: [
                OptionDefinition(
                    .service, value: .required("name", .service),
                    "Ask this service to read its own config again instead.")
            ]
        ).exits(.serviceFailed, .survivors, .nothingRuns, .timedOut, .notPermitted, .config),
        CommandDefinition(.plan, "Show what reload would do, and do nothing.").exits(
            .nothingRuns, .timedOut, .notPermitted, .config),
    ]

    static func someNames(_ help: String) -> ArgumentDefinition {
        ArgumentDefinition("name", .service, .some, help)
    }
}
