extension ServiceReader {
    /// How its process behaves in a simulation, if the config says anything about it.
    func readSimulated() -> SimulatedDefinition? {
        guard let given = keys["x-simulate"]?.object else { return nil }
        var simulated = SimulatedDefinition()
        simulated.launch = given["launch"]?.duration
        simulated.ready = given["ready"]?.duration
        simulated.run = given["run"]?.duration
        simulated.exitCode = given["exitCode"]?.integer.map { Int32($0) } ?? 0
        simulated.stop = given["stop"]?.duration
        simulated.ignoresTerm = given["ignoreTerm"]?.flag ?? false
        simulated.escapes = given["escape"]?.flag ?? false
        simulated.message =
            given["message"]?.text.flatMap(SimulatedDefinition.Message.init) ?? .stops
        check(given)
        return simulated
    }

    /// What would have no effect is a mistake.
    private func check(_ given: CheckedObject) {
        if let code = given["exitCode"], given["run"] == nil, !keys.isOneshot {
            log.error(
                code, "exitCode without run: a service that runs until it is stopped has none",
                suggestion: "say when it exits, with run: 10s")
        }
        if let stop = given["stop"], given["ignoreTerm"]?.flag == true {
            log.error(
                stop, "stop and ignoreTerm: true exclude each other", suggestion: "remove one")
        }
        if let message = given["message"], keys["control"]?.flag != true {
            log.error(
                message, "message is for a service with a control channel",
                suggestion: "add control: true, or remove message")
        }
        if let ready = given["ready"], keys.isOneshot {
            log.error(
                ready, "ready is not for a oneshot: it is ready when it completes",
                suggestion: "use run")
        }
    }
}
