internal import Manifest
internal import Simulation
internal import Stoic

extension Scenario {
    /// The services of a project with the behaviour its config gives them. `measured` durations
    /// count more than those of the config: whoever names a log wants them.
    init(of project: ProjectDefinition, measured: [ServiceName: MeasuredTimes] = [:]) {
        self.init(project.services.map(\.spec))
        exitBudget = project.exitBudget
        stopsInParallel = project.stopOrder == .parallel
        for service in project.services {
            let name = service.spec.name
            behaviours[name] = Behaviour(of: service, measured: measured[name])
        }
    }
}

extension Behaviour {
    /// What the process of a service does when nothing befalls it.
    init(of service: ServiceDefinition, measured: MeasuredTimes? = nil) {
        self.init(of: service.spec)
        let given = service.simulated?.wrappedValue ?? SimulatedDefinition()
        launch = measured?.launch ?? given.launch ?? launch
        ready = measured?.ready ?? given.ready ?? Self.readiness(service.ready)
        let end = measured?.stop ?? given.stop ?? .milliseconds(100)
        term = given.ignoresTerm ? nil : end
        command = term
        tree = given.escapes ? nil : .zero
        if let run = measured?.run ?? given.run ?? exits.first??.after {
            exits = [Exit(after: run, status: .code(given.exitCode))]
        }
        if let live = service.live?.wrappedValue { setProbes(live) }
        guard service.hasControlChannel else { return }
        hasChannel = true
        switch given.message {
        case .stops: answer = .exits(after: end)
        case .answers: answer = .only
        case .ignores: answer = .none
        }
    }

    private mutating func setProbes(_ live: LiveDefinition) {
        probeInterval = live.interval
        switch live.probe {
        case .exec: probeTimeout = live.timeout
        case .tcp, .unix: probesShowHang = false
        }
    }

    /// How long a definition of readiness takes by itself; what depends on the program takes 100
    /// ms.
    private static func readiness(_ ready: ReadyDefinition) -> Duration {
        switch ready {
        case .started(let least): least
        case .delay(let delay): delay
        case .notify, .descriptor, .tcp, .unix, .exec, .log, .file, .completion: .milliseconds(100)
        case .all(let parts): parts.map(readiness).max() ?? .zero
        case .any(let parts): parts.map(readiness).min() ?? .zero
        }
    }
}
