extension SchemaTable {
    static let project = SchemaTable(
        .project, "The whole file. Keys that begin with `x-` are free, here and in services.",
        foreign: foreignProjectKeys,
        [
            SchemaKey(
                "name", .text(.plain), absent: "the path of the config",
                "What identifies the project, in place of its path. Letters, digits, `-`, "
                    + "`_` and `.`."
            ),
            SchemaKey(
                "exitBudget", .duration(zeroIsLegal: false), absent: "30s",
                "From the first decision to stop to the end of everything; 9s where this is "
                    + "absent and we are PID 1."
            ),
            SchemaKey(
                "stopOrder", .choice(["reverse", "parallel"]), absent: "reverse",
                "`reverse`: one at a time, latest ready first. `parallel`: each as soon "
                    + "as nothing that needs it is left."),
            SchemaKey(
                "onStartFailure", .startFailure, absent: "rollback",
                "What a start failure does before the project was fully up once; a service "
                    + "may say otherwise."
            ),
            SchemaKey(
                "stateDirectory", .variables,
                absent: "`$XDG_STATE_HOME/orchestrator/ID`",
                "Where logs, events and the lock live. Relative to the directory of the config."),
            SchemaKey(
                "environment", .environment, absent: "none",
                "Variables of every service. `defaults` and the service's own win over them."),
            SchemaKey(
                "defaults", .object(.service), absent: "none",
                "Keys of every service that does not say otherwise. Keys for the other "
                    + "type of service, and `startTimeout` for a oneshot, are passed over."),
            SchemaKey(
                "services", .map(.services, of: .object(.service)), absent: "required",
                "The services by name. A name is letters, digits, `-`, `_` and `.`, at "
                    + "most 64, and begins with a letter or a digit."),
        ])

    static let need = SchemaTable(
        .need, "What a service is to the one that needs it.",
        foreign: [
            "restart": "onNeedLost: restart", "timeout": "startTimeout of the service needed",
        ],
        [
            SchemaKey(
                "condition",
                .choice(
                    ["ready", "started", "completed"],
                    foreign: [
                        "service_started": "started", "service_healthy": "ready",
                        "service_ready": "ready", "healthy": "ready", "process_started": "started",
                        "process_healthy": "ready", "process_completed_successfully": "completed",
                        "service_completed_successfully": "completed",
                        "process_log_ready": "ready", "process_completed": "completed",
                    ]), absent: "ready",
                "When the need is met. `started`: its program runs. `ready`: it can be "
                    + "used; of a oneshot, it completed. `completed`: it ended with success."),
            SchemaKey(
                "required", .flag, absent: "true",
                "`false`: the need also counts as met when its service has ended or gave up."),
            SchemaKey(
                "onNeedLost", .choice(["ignore", "wait", "restart"]), absent: "ignore",
                "What this service does when the need is lost while it runs. `ignore`: runs "
                    + "on. `wait`: is stopped, and starts when the need is met again. `restart`: "
                    + "is restarted once it is met again."
            ),
        ])

    static let restart = SchemaTable(
        .restart, "The restart policy.",
        foreign: [
            "max_restarts": "limit: {count: …, window: …}", "delay": "backoff: {initial: …}",
            "backoff_seconds": "backoff: {initial: …}", "max_attempts": "limit: {count: …}",
        ],
        [
            SchemaKey(
                "policy", .choice(restartModes, foreign: foreignRestartModes),
                absent: "onFailure",
                "`onFailure`: after a code other than 0, a signal, a missed watchdog, failed "
                    + "liveness probes or a "
                    + "failed start. `always`: after every exit nobody asked for. `no`: never."),
            SchemaKey(
                "backoff", .object(.backoff), absent: "the defaults",
                "The delays between launches, counted from the exit."),
            SchemaKey(
                "resetAfter", .duration(zeroIsLegal: true), absent: "30s",
                "How long it must have been ready for the delays to start over."),
            SchemaKey(
                "limit", .object(.limit), absent: "the defaults",
                "How many restarts are too many. Then it gave up."),
        ])

    static let backoff = SchemaTable(
        .backoff, "A growing delay: capped first, then shortened by chance.",
        foreign: ["delay": "initial", "base": "initial", "cap": "max", "multiplier": "factor"],
        [
            SchemaKey(
                "initial", .duration(zeroIsLegal: true), absent: "500ms", "The first delay."),
            SchemaKey(
                "factor", .number(1...1_000), absent: "2",
                "What each next delay is multiplied by."),
            SchemaKey(
                "max", .duration(zeroIsLegal: true), absent: "30s", "No delay is longer."),
            SchemaKey(
                "jitter", .number(0...1), absent: "0.2",
                "How much of a delay chance may take off: 0.2 leaves 80 to 100 per cent of it."),
        ])

    static let limit = SchemaTable(
        .limit, "A limit of restarts, whatever their causes.",
        foreign: ["max": "count", "interval": "window", "burst": "count", "period": "window"],
        [
            SchemaKey(
                "count", .integer(0...1_000_000), absent: "10",
                "Restarts allowed within `window`."),
            SchemaKey(
                "window", .duration(zeroIsLegal: false), absent: "5m", "The window of `count`."),
        ])
}
