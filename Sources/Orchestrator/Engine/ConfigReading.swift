import Manifest
import Stoic

/// A config as it was read again, on whatever thread.
struct ConfigReading: Sendable {
    /// What is wrong with it, in lines.
    struct Problems: Error {
        let lines: [String]
    }

    /// A config that passed every check.
    struct Config: Sendable {
        let project: ProjectDefinition
        let warnings: [String]
    }

    let result: Result<Config, Problems>

    /// Reads and checks the config. Blocks; not for the loop's thread.
    init(file: String, environment: [String: String]) {
        do throws(ConfigError) {
            let (project, warnings) = try loadProject(file: file, environment: environment)
            result = .success(
                Config(
                    project: project.withBudgetOfItsPlace(),
                    warnings: warnings.map(\.description)))
        } catch {
            result = .failure(Problems(lines: error.diagnostics.map(\.description)))
        }
    }

    /// It could not even be tried.
    init(failure: String) { result = .failure(Problems(lines: [failure])) }
}

/// What a reload came to.
enum ReloadOutcome {
    /// The plan is under way; what it changes, for the client, and what was decided.
    case planned(JSONValue, [LifecycleDecision])
    /// The config is refused, and nothing has changed.
    case refused([String])
    /// The brain takes no plan now, and nothing has changed.
    case notNow(Refusal)
}
