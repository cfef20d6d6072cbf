import Manifest
import Stoic

/// The definitions the brain's specs belong to: those of the config in force, and, while a changed
/// one settles, those it may be taken back to.
struct Definitions {
    private var current: [ServiceName: ServiceDefinition] = [:]
    private var previous: [ServiceName: ServiceDefinition] = [:]

    init(_ project: ProjectDefinition) {
        for service in project.services { current[service.spec.name] = service }
    }

    mutating func replace(_ project: ProjectDefinition) {
        previous = current
        current = Definitions(project).current
    }

    /// The changed config was taken back.
    mutating func rollBack() { swap(&current, &previous) }

    /// The definition with the rules that hold now.
    func definition(of spec: ServiceSpec) -> ServiceDefinition? {
        for table in [current, previous] {
            if let definition = table[spec.name],
                definition.spec.launchDigest == spec.launchDigest
            {
                return definition
            }
        }
        return current[spec.name] ?? previous[spec.name]
    }
}

extension LifecycleMachine.Settings {
    init(_ project: ProjectDefinition, lastIncarnation: UInt64) {
        self.init(
            exitBudget: project.exitBudget, stopsInParallel: project.stopOrder == .parallel,
            lastIncarnation: lastIncarnation)
    }
}
