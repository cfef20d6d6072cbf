import CBench
import Glibc
import Stoic
import Testing

/// One random project, brought up, broken in random ways for a while, and taken down.
@BenchActor
final class ChaosRound {
    private let bench: Bench
    private var random: RandomSource
    private var project: ChaosProject
    private var engine: Program?
    /// How many processes were killed or stopped.
    private(set) var kills = 0
    /// How often the engine said that a descriptor or the disk was refused to it.
    private(set) var refusals = 0

    init(_ bench: Bench, seed: UInt64) {
        self.bench = bench
        random = .seeded(seed)
        project = ChaosProject(&random)
    }

    /// Runs the round. What is wrong is recorded as an issue.
    func run(steps: Int) async throws {
        try bench.config(services: project.services)
        let engine = try bench.up()
        self.engine = engine
        try await bench.answers()
        try await recover()
        let held = bench.holdings(of: engine)
        for _ in 0..<steps { try await step(engine) }
        try await recover()
        try await bench.wait("the engine to hold what it held", within: .seconds(5)) { bench in
            bench.holdings(of: engine) <= held
                && !ProcessTable.children(of: engine.pid).contains { $0.state == "Z" }
        }
        try await bench.must("down", within: .seconds(30))
        #expect(try await bench.end(of: engine) == .exited(0))
        let steps = bench.journal.map { ChaosChecker.Step($0) }
        #expect(!steps.isEmpty)
        refusals = bench.journal.count {
            $0.line.contains("file descriptors left") || $0.line.contains("the disk is full")
        }
        #expect(ChaosChecker.complaints(about: steps, needs: project.needs) == [])
    }

    /// The log of a service is on a full disk from now on, or no longer. The engine sees it when it
    /// opens the file anew.
    private func fillDisk() {
        let log = bench.path("\(project.names.randomElement(using: &random) ?? "").log")
        let wasFull = TextFile.kind(log) == S_IFLNK
        unsafe unlink(log)
        if !wasFull { unsafe symlink("/dev/full", log) }
    }

    /// The engine gets hardly any descriptor more than it has, or as many as it likes.
    private func restrict(_ engine: Program) {
        let highest = ProcessTable.descriptors(of: engine.pid).keys.max() ?? 0
        let isScarce = Bool.random(using: &random)
        let spare = Int.random(in: 0...6, using: &random)
        cbench_limit_descriptors(engine.pid, isScarce ? UInt64(highest + spare) : .max / 2)
    }

    /// Everything is started and ready again: whatever was stopped by hand or by a signal too.
    private func recover() async throws {
        if let engine { cbench_limit_descriptors(engine.pid, .max / 2) }
        for event in alive() { event.send(SIGCONT) }
        let start = try bench.start(Launch(bench.arguments(["start"] + project.names)))
        let ending = try await bench.end(of: start, within: .seconds(30))
        #expect(ending == .exited(0), "\(start.output)\(start.errors)\(bench.story)")
        for name in project.names {
            try await bench.must("wait", name, "--timeout", "20s", within: .seconds(30))
        }
    }

    /// The processes of the project that live, kids and escaped ones too.
    private func alive() -> [PuppetEvent] {
        bench.events.filter { $0.event == "start" && $0.isAlive }
    }

    private func step(_ engine: Program) async throws {
        switch Int.random(in: 0..<15, using: &random) {
        case 0..<6: try await kill()
        case 6: try await command()
        case 7: try await reload()
        case 8: try await vanish()
        case 9:
            engine.signal(SIGSTOP)
            await bench.watch(for: .milliseconds(Int.random(in: 10...300, using: &random)))
            engine.signal(SIGCONT)
        case 10: fillDisk()
        case 11, 12: restrict(engine)
        default:
            await bench.watch(for: .milliseconds(Int.random(in: 0...100, using: &random)))
        }
        for name in project.names {
            let mains = alive().filter { $0.name == name }
            #expect(mains.count <= 1, "\(name) runs twice: \(mains)\n\(bench.story)")
        }
    }

    private func kill() async throws {
        await bench.watch(for: .milliseconds(Int.random(in: 0...60, using: &random)))
        guard let victim = alive().randomElement(using: &random) else { return }
        let signals = [SIGKILL, SIGKILL, SIGSEGV, SIGSTOP, SIGTERM, SIGABRT]
        victim.send(signals.randomElement(using: &random) ?? SIGKILL)
        kills += 1
    }

    private func command() async throws {
        let name = project.names.randomElement(using: &random) ?? ""
        let verbs = [
            ["restart", name], ["stop", name], ["start", name], ["status"], ["why", name],
        ]
        let verb = verbs.randomElement(using: &random) ?? ["status"]
        let program = try bench.start(Launch(bench.arguments(verb)))
        // Now and then nobody waits for the answer.
        guard Int.random(in: 0..<3, using: &random) > 0 else { return }
        try await bench.end(of: program, within: .seconds(30))
    }

    private func reload() async throws {
        project.change(&random)
        try bench.config(services: project.services)
        try await bench.run("reload", within: .seconds(30))
    }

    /// A client that goes away in the middle of its stream.
    private func vanish() async throws {
        let verb =
            [["logs", "-f"], ["events", "-f"], ["wait", "s0", "--for", "stopped"]]
            .randomElement(using: &random) ?? []
        let client = try bench.start(Launch(bench.arguments(verb)))
        await bench.watch(for: .milliseconds(Int.random(in: 0...80, using: &random)))
        client.signal(SIGKILL)
        try await bench.end(of: client)
    }
}

extension PuppetEvent {
    /// A signal to the process of a `start` event, if it is still that.
    func send(_ number: CInt) {
        if let begun { ProcessTable.signal(pid, begun: begun, number) }
    }
}
