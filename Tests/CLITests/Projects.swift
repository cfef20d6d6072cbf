import Manifest
import Stoic

/// Projects from literal values.
func project(
    _ services: [ServiceSpec], exitBudget: Duration = .seconds(30),
    stopOrder: ProjectDefinition.StopOrder = .reverse
) -> ProjectDefinition {
    var project = ProjectDefinition(
        file: "/srv/app/orchestrator.yaml", directory: "/srv/app",
        services: services.map { spec in
            ServiceDefinition(
                spec,
                launch: LaunchDefinition(
                    command: [Template(literal: "true")], workingDirectory: "/srv/app"))
        })
    project.exitBudget = exitBudget
    project.stopOrder = stopOrder
    return project
}

/// A service with the limits that matter to the arithmetic.
func service(
    _ name: ServiceName, needs: [Need] = [], start: Duration = .seconds(30), attempts: Int = 1,
    stop: Duration = .seconds(10)
) -> ServiceSpec {
    var spec = ServiceSpec(name, needs: needs, readiness: .reported)
    spec.startTimeout = start
    spec.startAttempts = attempts
    spec.stopTimeout = stop
    spec.restart.backoff = .exponential(base: .seconds(1), factor: 2, cap: .seconds(4))
    return spec
}
