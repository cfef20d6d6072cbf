internal import Manifest
internal import Simulation
internal import Stoic

extension CommandRun {
    /// `simulate`: the project under what the command line says, in virtual time.
    func simulate() throws(Failure) -> ExitCode {
        let (project, warnings) = try loadConfig()
        if !console.json {
            for warning in warnings { console.note(safeForTerminal(warning.description)) }
        }
        let scenario = try scenario(of: project)
        if let seeds = invocation.count(.seeds) {
            return try search(project, scenario, seeds: seeds)
        }
        let result: ScenarioResult
        do { result = try scenario.run() } catch {
            throw Failure(.defect, "cannot use a config that was checked: \(error)")
        }
        guard result.violations.isEmpty else { return report(scenario) }
        let report = SimulationReport(project, scenario, result)
        console.answer(console.json ? report.json : report.text(console.style))
        return .done
    }

    private func scenario(of project: ProjectDefinition) throws(Failure) -> Scenario {
        let names = project.services.map(\.spec.name.text)
        for incident in invocation.incidents {
            guard let name = incident.what.service, !names.contains(name.text) else { continue }
            var failure = unknownService(name.text, names)
            failure.message = "\(safeForTerminal(incident.option)): \(failure.message)"
            throw failure
        }
        var measured: [ServiceName: MeasuredTimes] = [:]
        if let path = invocation.text(.from) {
            measured = try EventLogReader.read(path)
            if !measured.keys.contains(where: { names.contains($0.text) }) {
                console.note(
                    "no event in \(safeForTerminal(path)) measures a service of this project")
            }
        }
        var scenario = Scenario(of: project, measured: measured)
        scenario.incidents = invocation.incidents
        scenario.until = invocation.duration(.until) ?? scenario.until
        scenario.seed = UInt64(invocation.count(.seed) ?? 1)
        return scenario
    }

    /// Plays the project under random incidents, seed by seed.
    private func search(
        _ project: ProjectDefinition, _ scenario: Scenario, seeds: Int
    ) throws(Failure) -> ExitCode {
        var report = SeedReport(project, seeds: seeds)
        var progress = SearchProgress(seeds: seeds)
        for seed in 1..<(UInt64(seeds) + 1) {
            let played = scenario.withIncidents(seed: seed)
            do {
                let result = try played.run()
                guard result.violations.isEmpty else { return self.report(played) }
                report.note(played, result)
            } catch {
                throw Failure(.defect, "cannot use a config that was checked: \(error)")
            }
            if let words = progress.words(after: Int(seed)) { console.note(words) }
        }
        console.answer(console.json ? report.json : report.text(console.style))
        return .done
    }

    /// A broken invariant is our defect, whatever the config says: it is reduced and shown.
    private func report(_ scenario: Scenario) -> ExitCode {
        let report = DefectReport(scenario)
        if console.json {
            console.answer(report.json)
        } else {
            console.answer(report.text)
        }
        return console.fail(report.failure)
    }
}

/// What is said about long work while it goes on: a line every two seconds.
private struct SearchProgress {
    let seeds: Int
    private var last = ContinuousClock().now

    init(seeds: Int) { self.seeds = seeds }

    mutating func words(after count: Int) -> String? {
        let now = ContinuousClock().now
        guard now - last >= .seconds(2), count < seeds else { return nil }
        last = now
        return "\(count) of \(seeds) seeds played"
    }
}
