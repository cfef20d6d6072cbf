internal import Orchestrator
internal import Simulation

/// A scenario that broke an invariant of the brain, reduced to what it takes.
struct DefectReport {
    private let seed: UInt64
    private let violations: [String]
    private let commandLine: String
    private let config: String

    /// Reduces `scenario`, which broke one.
    init(_ scenario: Scenario) {
        let shrinking = Shrinking(scenario)
        let text = ScenarioText(shrinking.smallest)
        seed = scenario.seed
        violations = shrinking.violations
        commandLine = text.commandLine(file: "defect.yaml")
        config = text.config
    }

    /// What the verb ends with.
    var failure: Failure {
        Failure(
            .defect,
            "a rule was broken under seed \(seed): \(violations.first ?? "")",
            hint: "This is a defect of \(CommandTable.program) \(orchestratorVersion), not of the "
                + "config. Please report it with the scenario above.")
    }

    /// For people: how to see it again.
    var text: String {
        let lines = config.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n")
        return """
            # the smallest scenario found; with defect.yaml as below:
            \(commandLine)

            # defect.yaml
            \(lines)
            """
    }

    /// For programs.
    var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("seed")
        writer.value(seed)
        writer.key("version")
        writer.value(orchestratorVersion)
        writer.key("violations")
        writer.beginArray()
        for violation in violations { writer.value(violation) }
        writer.endArray()
        writer.key("commandLine")
        writer.value(commandLine)
        writer.key("config")
        writer.value(config)
        writer.endObject()
        return writer.text
    }
}
