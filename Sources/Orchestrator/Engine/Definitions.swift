import Manifest
import Stoic

/// The definitions the brain's specs belong to: those of the config in force, and, while a changed
/// one settles, those it may be taken back to.
struct Definitions {
    /// The services of one config, found by name. They stay the project's own: nothing is copied.
    private struct Table {
        var services: [ServiceDefinition] = []
        var places: [ServiceName: Int] = [:]

        init(_ services: [ServiceDefinition] = []) {
            self.services = services
            places.reserveCapacity(services.count)
            for (place, service) in services.enumerated() { places[service.spec.name] = place }
        }

        subscript(name: ServiceName) -> ServiceDefinition? { places[name].map { services[$0] } }
    }

    private var current: Table
    private var previous = Table()

    init(_ project: ProjectDefinition) { current = Table(project.services) }

    mutating func replace(_ project: ProjectDefinition) {
        previous = current
        current = Table(project.services)
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
