internal import Manifest
internal import Orchestrator
internal import Simulation
internal import Stoic

/// What many runs under random incidents showed: the worst of each kind, with what it takes to see
/// them again.
struct SeedReport {
    private let file: String
    private let seeds: Int
    private let exitBudget: Duration
    private var slowestStarts = Worst()
    private var slowestStops = Worst()
    private var failed = Sample()
    private var abandoned = Sample()
    private var neverUp = Sample()
    private var events = 0

    /// How many runs of each kind are shown.
    static let shown = 3

    /// One run: its seed, how long it took, and its incidents as options.
    private struct Run {
        let duration: Duration
        let options: String
    }

    /// The longest runs.
    private struct Worst {
        private(set) var runs: [Run] = []

        mutating func note(_ run: Run) {
            guard runs.count < SeedReport.shown || run.duration > runs[runs.count - 1].duration
            else { return }
            let place = runs.firstIndex { $0.duration < run.duration } ?? runs.endIndex
            runs.insert(run, at: place)
            if runs.count > SeedReport.shown { runs.removeLast() }
        }
    }

    /// How many runs ended so, and the first of them.
    private struct Sample {
        private(set) var count = 0
        private(set) var first: String?

        mutating func note(_ options: @autoclosure () -> String) {
            count += 1
            if first == nil { first = options() }
        }
    }

    init(_ project: ProjectDefinition, seeds: Int) {
        file = project.file
        exitBudget = project.exitBudget
        self.seeds = seeds
    }

    /// Takes one run in.
    mutating func note(_ scenario: Scenario, _ result: ScenarioResult) {
        events += result.events
        func options() -> String {
            let incidents = scenario.incidents.sorted { $0.at < $1.at }
            return (["--seed \(scenario.seed)"] + incidents.map(\.option)).joined(separator: " ")
        }
        if let start = result.start {
            slowestStarts.note(Run(duration: start, options: options()))
        } else {
            neverUp.note(options())
        }
        if let stop = result.stop {
            slowestStops.note(Run(duration: stop, options: options()))
        }
        guard let outcome = result.outcome else { return }
        if !outcome.failed.isEmpty { failed.note(options()) }
        if !outcome.abandoned.isEmpty { abandoned.note(options()) }
    }

    private var kinds: [(title: String, key: String, sample: Sample)] {
        [
            ("never fully up", "neverUp", neverUp), ("a service failed for good", "failed", failed),
            ("a process outlived the stop", "abandoned", abandoned),
        ]
    }

    /// For people.
    func text(_ style: Style) -> String {
        var lines = [
            "\(safeForTerminal(file)): \(counted(seeds, "seed")), \(counted(events, "event")), "
                + "no rule broken", "",
        ]
        lines += section("longest starts", slowestStarts, style)
        lines += section(
            "longest stops, of an exitBudget of \(humanDuration(exitBudget))", slowestStops, style)
        for kind in kinds {
            let first = kind.sample.first.map { ", first with " + safeForTerminal($0) } ?? ""
            lines.append("\(kind.title): \(counted(kind.sample.count, "run"))\(first)")
        }
        lines += ["", "See one of them: \(CommandTable.program) simulate and its options."]
        return lines.joined(separator: "\n")
    }

    private func section(_ title: String, _ worst: Worst, _ style: Style) -> [String] {
        guard !worst.runs.isEmpty else { return [] }
        return [title]
            + worst.runs.map { run in
                let time = padded(humanDuration(run.duration), to: 12)
                return "  " + style.paint(time, .bold) + safeForTerminal(run.options)
            } + [""]
    }

    /// For programs: one object.
    var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("file")
        writer.value(file)
        writer.key("seeds")
        writer.value(seeds)
        writer.key("events")
        writer.value(events)
        for (key, worst) in [("longestStarts", slowestStarts), ("longestStops", slowestStops)] {
            writer.key(key)
            writer.beginArray()
            for run in worst.runs {
                writer.beginObject()
                writer.key("ms")
                writer.value(wholeMilliseconds(run.duration))
                writer.key("options")
                writer.value(run.options)
                writer.endObject()
            }
            writer.endArray()
        }
        for kind in kinds {
            writer.key(kind.key)
            writer.beginObject()
            writer.key("runs")
            writer.value(kind.sample.count)
            writer.key("first")
            writer.value(kind.sample.first)
            writer.endObject()
        }
        writer.endObject()
        return writer.text
    }
}
