import Glibc
import Testing

/// Real engines whose system refuses them something: one call after the other. `scripts/faults`
/// tries every call; here it is a sample.
@Suite("Cases: faults at the system gate", .timeLimit(.minutes(600)))
@BenchActor
struct FaultCases {
    private nonisolated static let isWhole = unsafe getenv("FAULTS_ALL") != nil
    /// Only these kinds, if any are named.
    private nonisolated static let only = unsafe getenv("FAULTS_KINDS").map {
        unsafe String(cString: $0)
    }
    private nonisolated static var kinds: [String] {
        guard let only, !only.isEmpty else { return Fault.kinds }
        return only.split(separator: " ").map(String.init)
    }
    /// Where to write what became of each run.
    private static let record = unsafe getenv("FAULTS_RECORD").map { unsafe String(cString: $0) }

    /// What an engine holds that nothing was done to. Found once.
    private static var usual: Int?

    private func usual() async throws -> Int {
        if let usual = Self.usual { return usual }
        var found: Int?
        try await withBench { bench in
            let fault = Fault(kind: "chdir", at: 0, goesOn: false)
            let outcome = try await FaultRun(bench: bench, fault: fault, usual: nil).run()
            #expect(outcome.code == 0 && outcome.report.count > 0 && outcome.report.fired == 0)
            found = outcome.holdings
        }
        let usual = try #require(found)
        Self.usual = usual
        return usual
    }

    @Test("the gate fails exactly the call that it was told to")
    func instrument() async throws {
        try await withBench { bench in
            let words = ["/bin/sh", "-c", "echo x >one; echo y >two; echo z >three; exit 5"]
            let program = try bench.start(
                words, under: Fault(kind: "write", at: 2, goesOn: false))
            #expect(try await bench.end(of: program) == .exited(5))
            let report = FaultReport(bench)
            #expect(report.count == 3 && report.fired == 1, "\(report)")
            #expect(["one", "two", "three"].map { bench.read($0) } == ["x\n", "", "z\n"])
            #expect(program.errors.contains("I/O error"), "\(program.errors)")
        }
    }

    @Test("an end of the fault ends it, and who only counts fails nothing")
    func instrumentEnds() async throws {
        try await withBench { bench in
            let script = "echo x >one; echo y >two; : >fault-over; echo z >three"
            for (at, texts) in [(1, ["", "", "z\n"]), (0, ["x\n", "y\n", "z\n"])] {
                Scratch.remove(bench.path("fault-over"))
                let fault = Fault(kind: "write", at: at, goesOn: true)
                let program = try bench.start(["/bin/sh", "-c", script], under: fault)
                try await bench.end(of: program)
                #expect(["one", "two", "three"].map { bench.read($0) } == texts)
                #expect(FaultReport(bench).fired == 2 * at)
            }
        }
    }

    @Test("the kinds are those of the gate")
    func kinds() async throws {
        try await withBench { bench in
            let program = try bench.start(Launch([bench.identity.programs + "/faults"]))
            try await bench.end(of: program)
            #expect(program.output.split(separator: "\n").map(String.init) == Fault.kinds)
        }
    }

    @Test("LOOP-34: a call fails once: a clear error or a recovery", arguments: kinds)
    func once(kind: String) async throws { try await all(kind, goesOn: false) }

    @Test(
        "calls fail from one on: a clear error or a recovery",
        arguments: kinds.filter { !Fault.neverPersistent.contains($0) })
    func persistently(kind: String) async throws { try await all(kind, goesOn: true) }

    /// Until a run passes in which nothing failed.
    private func all(_ kind: String, goesOn: Bool) async throws {
        let usual = try await usual()
        var at = 1
        while true {
            let fault = Fault(kind: kind, at: at, goesOn: goesOn)
            var fired = false
            do {
                try await withBench(isHeavy: !Self.isWhole) { bench in
                    let run = FaultRun(bench: bench, fault: fault, usual: usual)
                    let outcome = try await run.run()
                    fired = outcome.report.fired > 0
                    try write(fault, outcome)
                    if !fired { #expect(outcome.code == 0, "\(fault): \(outcome)") }
                }
            } catch {
                Issue.record("\(fault): \(error)")
                fired = at < 1_000
            }
            guard fired else { break }
            at = next(at, goesOn)
        }
        let runs = "\(at - 1) calls of \(kind), \(goesOn ? "from each on" : "each once")"
        if Self.isWhole { print("faults: \(runs)") }
    }

    private func next(_ at: Int, _ goesOn: Bool) -> Int {
        if Self.isWhole { return at + 1 }
        return goesOn ? at * 8 : at * 4
    }

    private func write(_ fault: Fault, _ outcome: FaultRun.Outcome) throws {
        guard let file = Self.record else { return }
        let before = TextFile.read(file) ?? ""
        let code = outcome.code.map(String.init) ?? "-"
        let text = "\(fault): exit \(code)\n\(outcome.report.log)\(outcome.errors)\n"
        try TextFile.write(before + text, to: file)
    }
}
