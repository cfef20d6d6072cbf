extension SchemaTable {
    static let simulate = SchemaTable(
        .simulate, "How the process of a service behaves in `orchestrator simulate`.",
        foreign: [
            "start": "launch or ready", "startup": "ready", "term": "stop", "exit": "exitCode",
            "code": "exitCode", "duration": "run", "delay": "ready",
        ],
        [
            SchemaKey(
                "launch", .duration(zeroIsLegal: true), absent: "5ms",
                "From its launch to its running program."),
            SchemaKey(
                "ready", .duration(zeroIsLegal: true),
                absent: "100ms, or as long as its `ready` asks for",
                "From its running program to readiness."),
            SchemaKey(
                "run", .duration(zeroIsLegal: true), absent: "for ever; a oneshot 1s",
                "From its running program to its own end, at each launch."),
            SchemaKey(
                "exitCode", .integer(0...255), absent: "0", "What it exits with after `run`."),
            SchemaKey(
                "stop", .duration(zeroIsLegal: true), absent: "100ms",
                "From what tells it to end to its end."),
            SchemaKey(
                "ignoreTerm", .flag, absent: "false", "`true`: only SIGKILL ends it."),
            SchemaKey(
                "escape", .flag, absent: "false",
                "`true`: it leaves a process behind, which only SIGKILL ends."),
            SchemaKey(
                "message",
                .choice(SimulatedDefinition.Message.allCases.map(\.rawValue)), absent: "stops",
                "With `control: true`, what the graceful message does: it `stops`, `answers` "
                    + "without an end, or `ignores` it."),
        ])
}
