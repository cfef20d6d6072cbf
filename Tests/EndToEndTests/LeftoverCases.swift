import Glibc
import Testing

/// What an engine that was killed left, and what only looks like it.
@Suite("Cases: leftovers of a killed engine", .timeLimit(.minutes(30)))
@BenchActor
struct LeftoverCases {
    @Test("C03: the next up stops what a killed engine left, in order, and then starts")
    func killed() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .puppet("a", "--kid setsid", "stopTimeout: 1s"),
                .puppet("b", "--term slow:0.3", "needs: [a]"),
                .puppet("c", "--term ignore", "needs: [b]", "stopTimeout: 1s"),
            ])
            let first = try bench.up()
            for name in ["a", "a-kid", "b", "c"] { try await bench.saw(name, "start") }
            try await bench.must("wait", "c", "--for", "ready")
            let old = bench.events.filter { $0.event == "start" }
            first.signal(SIGKILL)
            try await bench.end(of: first)
            #expect(old.allSatisfy { $0.isAlive }, "\(bench.story)")
            let second = try bench.up()
            let again = try await bench.saw("a", "start", count: 2)
            #expect(!old.contains { $0.isAlive }, "\(bench.story)")
            try await bench.saw("c", "start", count: 2)
            checkOrder(bench, restart: again)
            try await bench.must("down")
            #expect(try await bench.end(of: second) == .exited(0))
        }
    }

    /// The one that needs the others was stopped first; each was named; nothing new ran beside it.
    private func checkOrder(_ bench: Bench, restart: PuppetEvent) {
        let told = ["c", "b", "a"].map { bench.all($0, "got", "SIGTERM").first?.milliseconds ?? 0 }
        #expect(told.sorted() == told && !told.contains(0), "\(told)\n\(bench.story)")
        // `c` ignores it: the others wait for its SIGKILL.
        #expect(told[1] - told[0] >= 900, "\(told)")
        let byeOfB = bench.all("b", "bye").first?.milliseconds ?? 0
        #expect(byeOfB <= told[2] && told[2] <= restart.milliseconds, "\(bench.story)")
        let reports = bench.journal.filter { $0.name == "engine.leftoverStopped" }.map(\.message)
        #expect(reports.count == 3, "\(reports)")
        for name in ["a", "b", "c"] {
            #expect(reports.contains { $0.hasPrefix("\(name) was left running") }, "\(reports)")
        }
    }

    /// What a record may say of a process that is not ours.
    enum Lie: CaseIterable {
        /// Its number, recycled: everything else is of the launch.
        case number
        /// Its number and start time, of another boot.
        case boot
    }

    @Test("C05: a stranger with the number of a launch is never touched", arguments: Lie.allCases)
    func stranger(lie: Lie) async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a", "--beat 0.1")])
            let first = try bench.up()
            let start = try await bench.saw("a", "start")
            try await bench.answers()
            first.signal(SIGKILL)
            try await bench.end(of: first)
            if let begun = start.begun { ProcessTable.kill(start.pid, begun: begun) }
            let bystander = try bench.bystander()
            try forge(bench, start, bystander.pid, lie)

            #expect(try await bench.run("down").ending == .exited(69))
            #expect(try await bench.run("status").ending == .exited(69))
            let second = try bench.up()
            try await bench.saw("a", "start", count: 2)
            try await bench.must("wait", "a", "--for", "ready")
            #expect(bystander.ending == nil && ProcessTable.row(bystander.pid) != nil)
            #expect(bench.journal.allSatisfy { $0.name != "engine.leftoverStopped" })
            try await bench.must("down")
            try await bench.end(of: second)
            #expect(bystander.ending == nil)
        }
    }

    /// Puts the bystander into every file of the state directory in which the launch is.
    private func forge(
        _ bench: Bench, _ start: PuppetEvent, _ stranger: pid_t, _ lie: Lie
    ) throws {
        let begun = try #require(start.begun)
        let row = try #require(ProcessTable.row(stranger))
        let boot = String(TextFile.read("/proc/sys/kernel/random/boot_id")?.prefix(36) ?? "")
        let path = try #require(
            Scratch.files(under: bench.path("state")).first { $0.hasSuffix("/launches") })
        let record = TextFile.read(path) ?? ""
        #expect(record.contains(" \(start.pid) \(begun) ") && record.contains(boot), "\(record)")
        let forged: String
        switch lie {
        case .number:
            forged = record.replacing(" \(start.pid) ", with: " \(stranger) ")
        case .boot:
            let other = String(boot.map { $0 == "0" ? "1" : $0 == "-" ? "-" : "0" })
            forged = record.replacing(" \(start.pid) \(begun) ", with: " \(stranger) \(row.begun) ")
                .replacing(boot, with: other)
        }
        #expect(forged != record)
        try TextFile.write(forged, to: path)
    }
}
