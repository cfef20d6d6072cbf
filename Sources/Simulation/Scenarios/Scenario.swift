package import Stoic

/// Services, how their processes behave, and what befalls them: everything a run depends on.
package struct Scenario: Sendable {
    /// The services, as a valid graph.
    package var specs: [ServiceSpec]
    /// From the first stop decision to the end of everything.
    package var exitBudget = Duration.seconds(30)
    /// Whether stops go as parallel as the needs allow.
    package var stopsInParallel = false
    /// How processes behave when nothing befalls them; `Behaviour.good` where nothing is said.
    package var behaviours: [ServiceName: Behaviour] = [:]
    /// What happens, in any order.
    package var incidents: [Incident] = []
    /// Where the jitter of delays comes from.
    package var seed: UInt64 = 1
    /// How long it is watched at most before it is stopped, sleep included.
    package var until = Duration.seconds(600)
    /// What a test says is wrong with a state, beside the invariants; `nil`: nothing.
    package var claim: (@Sendable (LifecycleMachine) -> String?)?

    /// A scenario of `specs` in which nothing befalls them.
    package init(_ specs: [ServiceSpec]) { self.specs = specs }

    /// Plays it to the end: `up`, the incidents, quiet or `until`, then a stop of the project, if
    /// it has not ended by then.
    /// - Throws: `DependencyGraphError` when `specs` are no valid graph.
    package func run() throws(DependencyGraphError) -> ScenarioResult {
        let settings = LifecycleMachine.Settings(
            exitBudget: exitBudget, stopsInParallel: stopsInParallel, random: .seeded(seed))
        var host = SimulatedHost(try LifecycleMachine(specs, settings: settings))
        host.behaviours = behaviours
        host.claim = claim
        let sorted = incidents.enumerated().sorted {
            ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
        }.map(\.element)
        for incident in sorted where incident.at <= .zero { host.befall(incident.what) }
        host.command(.up, by: "you")
        for incident in sorted where incident.at > .zero && incident.at <= until {
            host.run(untilOverSleep: incident.at)
            guard !host.isOver else { break }
            host.befall(incident.what)
        }
        let isBusy = host.runWhileBusy(untilOverSleep: until)
        return ScenarioResult(finishing: host, isBusy: isBusy)
    }
}

extension SimulatedHost {
    /// How far awake time will have gone when so much time, sleep included, has passed.
    private func awake(atOverSleep end: Duration) -> Duration {
        max(end - (elapsedOverSleep - elapsed), elapsed)
    }

    fileprivate mutating func run(untilOverSleep end: Duration) {
        run(until: awake(atOverSleep: end))
    }

    fileprivate mutating func runWhileBusy(untilOverSleep end: Duration) -> Bool {
        runWhileBusy(until: awake(atOverSleep: end))
    }
}

/// What became of a scenario.
package struct ScenarioResult: Sendable {
    /// What was decided, the last stop included.
    package let journal: [SimulatedHost.Entry]
    /// How much of `journal` was decided when the watching ended; what follows is the stop that
    /// every run ends with.
    package let watched: Int
    /// The brain when the watching ended.
    package let machine: LifecycleMachine
    /// When the watching ended, sleep included.
    package let end: Duration
    /// Whether something was still to come then.
    package let isBusy: Bool
    /// From the begin to the moment when everything was up for the first time, without the sleep
    /// of the machine; `nil`: never.
    package let start: Duration?
    /// From the decision to stop the project to its end; `nil`: it never ended.
    package let stop: Duration?
    /// How the project ended.
    package let outcome: ProjectOutcome?
    /// What was found wrong, in words: each is a defect of the brain.
    package let violations: [String]
    /// How many events the brain heard.
    package let events: Int

    /// Ends what still runs, and sums up.
    fileprivate init(finishing host: SimulatedHost, isBusy: Bool) {
        var host = host
        watched = host.journal.count
        machine = host.machine
        let last = host.journal.last?.at.boot ?? SimulatedHost.begin.boot
        end = host.isOver ? last - SimulatedHost.begin.boot : host.elapsedOverSleep
        self.isBusy = isBusy && !host.isOver
        if !host.isOver {
            if !machine.isEnding {
                host.command(.stopProject(.requested("the end of the simulation")), by: "simulate")
            }
            host.runOut()
        }
        var violations = host.violations
        if host.isCutOff {
            violations.append("it goes round in circles: \(SimulatedHost.mostEntries) decisions")
        } else if !host.isOver {
            violations.append("the project's stop never ends")
        }
        self.violations = violations
        journal = host.journal
        outcome = host.outcome
        events = host.events
        start =
            host.journal.first { $0.decision.what == .projectUp }
            .map { $0.at.awake - SimulatedHost.begin.awake }
        let stopping = host.journal.first { entry in
            guard case .projectStopping = entry.decision.what else { return false }
            return true
        }
        let ended = host.journal.last { entry in
            guard case .projectEnded = entry.decision.what else { return false }
            return true
        }
        stop = stopping.flatMap { from in ended.map { $0.at.awake - from.at.awake } }
    }
}
