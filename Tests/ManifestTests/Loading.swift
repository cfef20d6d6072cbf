import Manifest
import Stoic
import Testing

/// Loads YAML under the name `orchestrator.yaml` in a directory that is not there.
func load(
    _ text: String, file: String = "/project/orchestrator.yaml",
    environment: [String: String] = [:]
) throws(ConfigError) -> ProjectDefinition {
    try loadProject(text: Array(text.utf8), file: file, environment: environment).project
}

/// Every problem of a config, one a line, without its file's directory.
func problems(
    _ text: String, file: String = "/project/o.yaml", environment: [String: String] = [:]
) -> String {
    problems(Array(text.utf8), file: file, environment: environment)
}

func problems(
    _ text: [UInt8], file: String = "/project/o.yaml", environment: [String: String] = [:]
) -> String {
    let found: [Diagnostic]
    do throws(ConfigError) {
        found = try loadProject(text: text, file: file, environment: environment).warnings
    } catch {
        found = error.diagnostics
    }
    return found.map { String($0.description.dropFirst("/project/".count)) }
        .joined(separator: "\n")
}

extension ProjectDefinition {
    /// The service of a name; fails the test if there is none.
    func service(_ name: String) throws -> ServiceDefinition {
        try #require(services.first { $0.spec.name.text == name })
    }
}

/// A config of one service `a` with these keys beside its command.
func one(_ keys: String) -> String {
    let lines = keys.split(separator: "\n", omittingEmptySubsequences: false)
    return "services:\n  a:\n    command: [true]\n" + lines.map { "    \($0)\n" }.joined()
}
