extension SchemaTable {
    static let ready = SchemaTable(
        .ready, "Readiness by a message or a probe: exactly one key.",
        foreign: [
            "http": "tcp, or exec with an HTTP client", "http_get": "exec with an HTTP client",
            "httpGet": "exec with an HTTP client", "port": "tcp", "socket": "unix",
            "command": "exec", "test": "exec", "output": "log", "regex": "log", "path": "file",
            "s6": "fd", "notificationFd": "fd", "for": "started: {for: …}", "period": "no period",
            "interval": "no interval: probes run from every 50ms to every 1s",
        ],
        [
            SchemaKey(
                "started", .object(.started), absent: "none",
                "Its program runs, and stayed alive for a while."),
            SchemaKey(
                "notify", .flag, absent: "none", "`true`: `READY=1`, for use in `all` and `any`."),
            SchemaKey(
                "fd", .integer(3...1_023), absent: "none",
                "It writes a newline to this descriptor (the way of s6)."),
            SchemaKey(
                "tcp", .variables, absent: "none",
                "A TCP port accepts connections: `5432` on 127.0.0.1, or `host:port`; "
                    + "`[::1]:80` for IPv6."
            ),
            SchemaKey(
                "unix", .variables, absent: "none",
                "A Unix socket accepts connections: a path of at most 107 bytes, or `@name` "
                    + "for an abstract one."
            ),
            SchemaKey(
                "exec", .either([.command, .object(.exec)]), absent: "none",
                "A command exits with 0. It runs with the service's environment, user and "
                    + "directory."
            ),
            SchemaKey(
                "log", .text(.plain), absent: "none",
                "A line of its output matches this POSIX extended regular expression."),
            SchemaKey(
                "file", .variables, absent: "none", "This file exists."),
            SchemaKey(
                "delay", .duration(zeroIsLegal: true), absent: "none",
                "This time has passed since its launch."),
            SchemaKey("all", readyList, absent: "none", "All of these."),
            SchemaKey("any", readyList, absent: "none", "One of these."),
        ])

    private static let readyList = ValueType.list(
        of: .either([.choice(["started", "notify"]), .object(.ready)]))

    static let started = SchemaTable(
        .started, "Readiness by staying alive.",
        [
            SchemaKey(
                "for", .duration(zeroIsLegal: true), absent: "0s", "How long it must stay alive.")
        ])

    static let exec = SchemaTable(
        .exec, "A probe by a command.",
        foreign: ["period": "no period", "interval": "no interval", "test": "command"],
        [
            SchemaKey("command", .command, absent: "required", "What runs; exit code 0 is ready."),
            SchemaKey(
                "timeout", .duration(zeroIsLegal: false), absent: "5s",
                "A run is killed, with all its processes, after this long."),
        ])

    static let live = SchemaTable(
        .live, "A liveness probe: exactly one of `tcp`, `unix` and `exec`.",
        foreign: [
            "http": "tcp, or exec with an HTTP client", "http_get": "exec with an HTTP client",
            "httpGet": "exec with an HTTP client", "port": "tcp", "socket": "unix",
            "command": "exec", "test": "exec", "period": "interval", "every": "interval",
            "periodSeconds": "interval", "retries": "threshold",
            "failureThreshold": "threshold", "failure_threshold": "threshold",
            "timeoutSeconds": "timeout",
            "initialDelaySeconds": "no delay: it begins once ready, so say how with ready",
            "start_period": "no delay: it begins once ready, so say how with ready",
        ],
        [
            SchemaKey(
                "tcp", .variables, absent: "none",
                "A TCP port accepts connections: `5432` on 127.0.0.1, or `host:port`. Shows that "
                    + "the socket is there; the kernel accepts for a process that hangs as well."),
            SchemaKey(
                "unix", .variables, absent: "none",
                "A Unix socket accepts connections: a path of at most 107 bytes, or `@name`. "
                    + "Shows as much as `tcp` does."),
            SchemaKey(
                "exec", .command, absent: "none",
                "A command exits with 0: asks the service something, and so shows that it hangs. "
                    + "It runs with the service's environment, user and directory."),
            SchemaKey(
                "interval", .duration(zeroIsLegal: false), absent: "10s",
                "From readiness to the first probe, and from the end of each to the next: two "
                    + "never run at once."),
            SchemaKey(
                "timeout", .duration(zeroIsLegal: false), absent: "5s",
                "A probe that takes longer has failed; a command is killed with all its "
                    + "processes."),
            SchemaKey(
                "threshold", .integer(1...100), absent: "3",
                "So many failures in a row, and the service has failed: it is stopped, and "
                    + "`restart` says what follows."),
        ])

    static let rung = SchemaTable(
        .rung, "A rung of a stop: exactly one of `message`, `signal` and `command`.",
        foreign: ["sleep": "wait", "timeout": "wait", "exec": "command", "target": "to"],
        [
            SchemaKey(
                "message", .flag, absent: "none",
                "`true`: the graceful message on the control channel."),
            SchemaKey("signal", .stopSignal, absent: "none", "A signal: `INT`, `SIGINT` or `2`."),
            SchemaKey(
                "command", .command, absent: "none",
                "A command, which gets the reason of the stop in `ORCHESTRATOR_EXIT`."),
            SchemaKey(
                "to", .choice(["main", "group", "tree"]), absent: "group (`tree` for KILL)",
                "Whom the signal reaches: the main process, its process group, or every "
                    + "process of the service."
            ),
            SchemaKey(
                "wait", .duration(zeroIsLegal: true), absent: "until `stopTimeout`",
                "How long the next rung waits for everything to be gone."),
        ])

    static let resourceLimit = SchemaTable(
        .resourceLimit, "A resource limit in two parts.",
        [
            SchemaKey("soft", .limit, absent: "required", "The limit that applies."),
            SchemaKey(
                "hard", .limit, absent: "required", "How far the process may raise it itself."),
        ])

    static let provided = SchemaTable(
        .provided, "A value that the service says itself.",
        [
            SchemaKey(
                "from", .choice(["ready"]), absent: "required",
                "`ready`: it comes with the message that says `READY=1`.")
        ])

    static let environmentFile = SchemaTable(
        .environmentFile, "An environment file that may be missing.",
        [
            SchemaKey(
                "path", .variables, absent: "required",
                "The file. Relative to the directory of the config."),
            SchemaKey(
                "required", .flag, absent: "true", "`false`: a missing file is an empty one."),
        ])

    static let output = SchemaTable(
        .output, "What becomes of the output of a service.",
        foreign: [
            "path": "file", "max_size": "maxSize", "max_files": "keep", "rotate": "keep",
            "logfile": "file",
        ],
        [
            SchemaKey(
                "file", .variables, absent: "`logs/NAME.log` in the state directory",
                "The log file, for this service alone. Relative to the directory of the config."),
            SchemaKey(
                "maxSize", .size(4_096...(1 << 50)), absent: "10MiB",
                "The file is rotated at this size."),
            SchemaKey(
                "keep", .integer(0...1_000), absent: "4",
                "Rotated files kept beside the current one."),
            SchemaKey(
                "maxLine", .size(64...(16 << 20)), absent: "16KiB",
                "Longer lines are cut in views, with a mark; the file has them whole."),
            SchemaKey(
                "separate", .flag, absent: "false",
                "`true`: stdout and stderr keep pipes of their own, so views can tell them apart."),
        ])
}
