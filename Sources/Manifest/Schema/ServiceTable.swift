extension ValueType {
    static let variables = ValueType.text(.variables)
    static let environment = ValueType.either([
        .map(.variables, of: .text(.template)), .list(of: .text(.template)),
    ])
    static let startFailure = ValueType.choice(["rollback", "keep"])
    /// Signals after which nothing would ever stop.
    static let stopSignal = ValueType.signal(refused: [17, 18, 19, 20, 21, 22])
}

extension SchemaTable {
    static let service = SchemaTable(
        .service, "One service. `defaults` takes the same keys, except `extends`.",
        foreign: foreignServiceKeys,
        identityKeys + launchKeys + startKeys + stopKeys + afterwardsKeys)

    private static let identityKeys = [
        SchemaKey(
            "type",
            .choice(
                ["service", "oneshot"],
                foreign: [
                    "simple": "service", "exec": "service", "daemon": "service",
                    "longrun": "service", "task": "oneshot", "job": "oneshot",
                    "notify": "type: service with ready: notify",
                    "forking": "a command that stays in the foreground",
                ]),
            absent: "service",
            "A `service` runs until it is stopped; a `oneshot` runs to completion."),
        SchemaKey(
            "description", .text(TextRule(mayBeEmpty: true)), absent: "none",
            "One line for people, shown by `status`."),
        SchemaKey(
            "extends", .text(.plain), absent: "nothing",
            "Another service whose keys this one starts from. Its own keys replace them "
                + "whole, except `environment`, whose variables are added. Chains are at most "
                + "64 long."),
    ]

    private static let launchKeys = [
        SchemaKey(
            "command", .command, absent: "required",
            "A list is the argument vector. Text is split like a shell would, and not run "
                + "by one: unquoted `|` `&` `;` `<` `>` `(` `)` `` ` `` `*` `~`, and `$` other "
                + "than `${…}`, are errors. Quotes work as in a shell; nothing is interpolated "
                + "in single quotes."),
        SchemaKey(
            "shell", .either([.flag, .list(of: .text(.plain))]), absent: "false",
            "`true` hands the text of `command` to `/bin/sh -c`, a list such as `[bash, "
                + "-euc]` to that. Nothing in the text is interpolated then: `$` is the shell's."),
        SchemaKey(
            "workingDirectory", .variables, absent: "the directory of the config",
            "Where the process starts. Relative to the directory of the config."),
        SchemaKey(
            "environment", .environment, absent: "none",
            "Variables of the process: a map, or a list of `NAME=VALUE`; a bare `NAME` in "
                + "the list passes on the caller's variable, if it is set. Values arrive byte "
                + "for byte."),
        SchemaKey(
            "environmentFile",
            .either([
                .variables, .list(of: .either([.variables, .object(.environmentFile)])),
                .object(.environmentFile),
            ]), absent: "none",
            "Files of `NAME=VALUE` lines, read when the config is loaded and again at each launch. "
                + "`environment` wins over them, a later file over an earlier one."),
        SchemaKey(
            "inheritEnvironment", .either([.flag, .list(of: .text(.plain))]), absent: "true",
            "Whether the process gets the variables of the orchestrator's environment: "
                + "all (`true`), none (`false`), or those of a list, where they are set."),
        SchemaKey(
            "user", .variables, absent: "the orchestrator's",
            "The user it runs as, a name or a number. Changing it takes root."),
        SchemaKey(
            "group", .variables, absent: "the user's",
            "Its primary group, a name or a number."),
        SchemaKey("umask", .octal, absent: "the orchestrator's", "Its umask, in octal: `022`."),
        SchemaKey(
            "nice", .integer(-20...19), absent: "the orchestrator's",
            "Its nice value; below 0 takes root."),
        SchemaKey(
            "limits", .map(.limits, of: .either([.limit, .object(.resourceLimit)])),
            absent: "those the orchestrator was started with",
            "Resource limits by name: a number, a size or `unlimited` for both limits, or "
                + "`{soft: …, hard: …}`. Names: " + resourceLimitNames.joined(separator: ", ") + "."
        ),
        SchemaKey(
            "isolate", .choice(["cgroup", "none"]), absent: "a cgroup where the system allows it",
            "`cgroup` insists on a cgroup of its own, `none` does without."),
        SchemaKey(
            "output", .object(.output), absent: "the defaults", "What becomes of its output."),
    ]

    private static let startKeys = [
        SchemaKey(
            "needs",
            .either([.list(of: .text(.plain)), .map(.services, of: .object(.need))]),
            absent: "none",
            "The services that must be ready before this one starts, and that outlive it: "
                + "a list of names, or a map from names to conditions."),
        SchemaKey(
            "ready",
            .either([
                .choice(
                    ["started", "notify"],
                    foreign: [
                        "simple": "started", "running": "started",
                        "sd_notify": "notify", "healthy": "started",
                        "tcp": "{tcp: PORT}", "port": "{tcp: PORT}", "unix": "{unix: PATH}",
                        "log": "{log: PATTERN}", "fd": "{fd: NUMBER}", "file": "{file: PATH}",
                        "http": "{exec: [curl, -fsS, URL]}",
                    ]), .object(.ready),
            ]), absent: "started", fits: .service,
            "How it says, or shows, that it can be used. `started`: its program runs. "
                + "`notify`: it sends `READY=1` (sd_notify), or says so on its control channel."),
        SchemaKey(
            "start",
            .choice(
                ["auto", "manual"],
                foreign: [
                    "disabled": "manual", "enabled": "auto", "on_demand": "manual",
                    "false": "manual", "true": "auto", "no": "manual", "yes": "auto",
                ]),
            absent: "auto",
            "`manual`: `up` without names does not start it, unless something needs it."),
        SchemaKey(
            "startTimeout", .duration(zeroIsLegal: false), absent: "30s",
            "From launch to ready, for each attempt. A oneshot has none unless it says so "
                + "itself: its bound is `timeout`."),
        SchemaKey(
            "startTimeoutMax", .duration(zeroIsLegal: false), absent: "10 × `startTimeout`",
            fits: .service,
            "How far the service may extend its start by messages, counted from the launch."),
        SchemaKey(
            "startAttempts", .integer(1...1_000), absent: "1",
            "Launches before a start failure counts as one."),
        SchemaKey(
            "onStartFailure", .startFailure, absent: "that of the project",
            "What a start failure does before the project was fully up once. `rollback`: "
                + "what started is stopped and `up` fails. `keep`: its restart policy is "
                + "followed."),
        SchemaKey(
            "timeout", .duration(zeroIsLegal: false), absent: "1h", fits: .oneshot,
            "From launch to completion of a oneshot."),
        SchemaKey(
            "rerun", .choice(["withNeeds"]), absent: "once", fits: .oneshot,
            "`withNeeds`: the oneshot runs again after each restart of a need."),
        SchemaKey(
            "keepTree", .flag, absent: "false", fits: .oneshot,
            "`true`: it is complete when its main process ended well, whatever that left running."),
        SchemaKey(
            "provides",
            .map(.provided, of: .either([.text(.template), .object(.provided)])), absent: "none",
            "Values handed to those that list this service in `needs`, as `${service.key}`."),
    ]

    private static let stopKeys = [
        SchemaKey(
            "stopTimeout", .duration(zeroIsLegal: true), absent: "10s",
            "From the start of its stop to SIGKILL for everything left of it. `0s` is "
                + "SIGKILL at once."
        ),
        SchemaKey(
            "stop",
            .either([
                .object(.rung),
                .list(of: .either([.choice(["message"], foreign: signalRungs), .object(.rung)])),
            ]), absent: "the graceful message, then SIGTERM",
            "The rungs of its stop, in order; SIGKILL at `stopTimeout` is implied. One map "
                + "is a list of one."
        ),
        SchemaKey(
            "control", .flag, absent: "false",
            "Whether it gets the control channel, over which it hears the graceful message."),
        SchemaKey(
            "reload", .signal(refused: [9, 19]), absent: "HUP",
            "The signal that asks it to reload, if it has no control channel."),
    ]

    private static let afterwardsKeys = [
        SchemaKey(
            "restart",
            .either([.choice(restartModes, foreign: foreignRestartModes), .object(.restart)]),
            absent: "onFailure", "When it is launched again after an exit nobody asked for."),
        SchemaKey(
            "essential", .flag, absent: "false",
            "When it has ended by itself and is not started again, the project stops with "
                + "its exit code."
        ),
        SchemaKey(
            "watchdog", .duration(zeroIsLegal: false), absent: "none", fits: .service,
            "The longest silence between two `WATCHDOG=1` messages once it is ready."),
        SchemaKey(
            "live", .object(.live), absent: "none", fits: .service,
            "A probe that shows whether it still lives, run again and again once it is ready."),
        SchemaKey(
            "x-simulate", .object(.simulate), absent: "the usual behaviour",
            "How its process behaves in `orchestrator simulate`. Nothing else reads it: a change "
                + "restarts nothing."),
    ]
}

/// The resource limits a config may set. `locks` is the orchestrator's own mark on a process.
let resourceLimitNames = [
    "as", "core", "cpu", "data", "fsize", "memlock", "msgqueue", "nice", "nofile", "nproc", "rss",
    "rtprio", "rttime", "sigpending", "stack",
]

let restartModes = ["no", "onFailure", "always"]

let foreignRestartModes = [
    "on-failure": "onFailure", "on_failure": "onFailure", "unless-stopped": "always",
    "unless_stopped": "always", "never": "no", "none": "no", "false": "no", "true": "always",
    "yes": "always", "exit_on_failure": "essential: true", "unexpected": "onFailure",
    "on-abnormal": "onFailure",
]
