/// Keys of other tools at the top of a file, and what to use here.
let foreignProjectKeys = [
    "version": "no versions", "processes": "services", "daemons": "services",
    "programs": "services",
    "env": "environment", "exit_budget": "exitBudget", "stop_order": "stopOrder",
    "include": "one file", "state_dir": "stateDirectory", "log_location": "output: {file: …}",
    "env_file": "environmentFile in defaults", "shutdown_timeout": "exitBudget",
    "x": "x-NAME for keys of your own",
    "networks": "no networks", "volumes": "no volumes", "secrets": "environmentFile",
]

/// Keys of other tools in a service, and what to use here.
let foreignServiceKeys = [
    // What is needed
    "depends_on": "needs", "dependsOn": "needs", "requires": "needs", "after": "needs",
    "wants": "needs: {NAME: {required: false}}", "dependencies": "needs",
    "before": "needs in the other one", "depends-on": "needs",
    "waits-for":
        "needs: {NAME: {required: false}}", "After": "needs", "Requires": "needs",
    "Wants": "needs: {NAME: {required: false}}",
    // How it is launched
    "cmd": "command", "exec": "command", "run": "command", "script": "command with shell: true",
    "entrypoint": "command", "args": "command", "ExecStart": "command",
    "cwd": "workingDirectory", "dir": "workingDirectory", "directory": "workingDirectory",
    "working_dir": "workingDirectory", "working_directory": "workingDirectory",
    "workdir": "workingDirectory", "WorkingDirectory": "workingDirectory",
    "env": "environment", "environments": "environment", "Environment": "environment",
    "env_file": "environmentFile", "environment_file": "environmentFile",
    "envFile": "environmentFile", "EnvironmentFile": "environmentFile",
    "clear_env": "inheritEnvironment: false", "pass_env": "inheritEnvironment",
    "uid": "user", "gid": "group", "User": "user", "ulimits": "limits", "rlimits": "limits",
    "priority": "needs for an order, nice for the scheduler", "LimitNOFILE": "limits: {nofile: …}",
    "Nice": "nice", "UMask": "umask", "Group": "group", "Type": "ready: notify, or type: oneshot",
    "ExecStartPre": "a oneshot in needs", "numprocs": "extends, a service for each",
    "env_vars": "environment", "Description": "description",
    "log": "output", "logs": "output", "logging": "output", "stdout_logfile": "output: {file: …}",
    "log_location": "output: {file: …}", "logfile": "output: {file: …}",
    "StandardOutput": "output", "redirect_stderr": "output: by itself both go to one file",
    "tty": "no terminals",
    // How it becomes ready
    "healthcheck": "ready, or live", "health": "ready, or live", "readiness": "ready",
    "readiness_probe": "ready", "readinessProbe": "ready", "readyWhen": "ready",
    "ready_log_line": "ready: {log: …}", "notify": "ready: notify", "liveness_probe": "live",
    "livenessProbe": "live", "liveness": "live",
    "start_timeout": "startTimeout", "TimeoutStartSec": "startTimeout",
    "launch_timeout_seconds": "startTimeout", "startsecs": "ready: {started: {for: …}}",
    "startretries": "startAttempts", "start_attempts": "startAttempts",
    "autostart": "start: manual", "disabled": "start: manual", "enabled": "start: manual",
    "profiles": "start: manual",
    // How it stops
    "stop_grace_period": "stopTimeout", "stop_timeout": "stopTimeout",
    "kill_timeout": "stopTimeout", "stopwaitsecs": "stopTimeout", "TimeoutStopSec": "stopTimeout",
    "stop_signal": "stop: {signal: …}", "stopsignal": "stop: {signal: …}",
    "kill_signal": "stop: {signal: …}", "KillSignal": "stop: {signal: …}",
    "stopSignal": "stop: {signal: …}", "shutdown": "stop", "stop_command": "stop: {command: …}",
    "reload_signal": "reload", "stop-timeout": "stopTimeout", "ExecStop": "stop: {command: …}",
    "ExecReload": "reload: HUP, a signal", "stopasgroup": "stop: {signal: …, to: group}",
    "killasgroup": "stop: SIGKILL reaches the whole tree anyway",
    // What follows its end
    "restart_policy": "restart", "availability": "restart", "autorestart": "restart",
    "Restart": "restart", "restart_delay": "restart: {backoff: {initial: …}}",
    "RestartSec": "restart: {backoff: {initial: …}}", "exitcodes": "restart: onFailure",
    "StartLimitBurst": "restart: {limit: {count: …, window: …}}",
    "max_restarts": "restart: {limit: {count: …, window: …}}", "backoff": "restart: {backoff: …}",
    "critical": "essential", "exit_on_failure": "essential", "exit_on_end": "essential",
    "watchdog_sec": "watchdog", "WatchdogSec": "watchdog",
    // What there is not
    "image": "command: containers are not run here", "build": "a oneshot that builds",
    "ports": "no published ports", "volumes": "no volumes", "networks": "no networks",
    "container_name": "one name, that of the service", "hostname": "no host names",
    "labels": "x-NAME for keys of your own", "secrets": "environmentFile",
    "namespace": "no namespaces",
    "deploy": "limits, and extends for replicas", "mem_limit": "limits: {as: …}",
    "cap_add": "no capabilities", "privileged": "no containers", "init": "no containers",
    "is_daemon": "command in the foreground", "forking": "command in the foreground",
    "pidfile": "command in the foreground", "pid_file": "command in the foreground",
    "daemon": "command in the foreground", "background": "command in the foreground",
    "replicas": "extends, a service for each",
    "schedule": "an outside scheduler and `start NAME`", "hooks": "a oneshot in needs",
]

/// What others write for a rung of a stop that is a signal.
let signalRungs = Dictionary(
    ["TERM", "INT", "QUIT", "HUP", "KILL", "USR1", "USR2"].flatMap { name in
        [name, "SIG\(name)", name.lowercased()].map { ($0, "{signal: \(name)}") }
    }, uniquingKeysWith: { first, _ in first })
