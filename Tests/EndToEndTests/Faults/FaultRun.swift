import CBench
import Glibc
import Testing

/// A whole life of a project, while one kind of call fails: up, a service killed, down.
///
/// Whatever the engine makes of it is right if it recovers or says clearly why it cannot; if it
/// ends by itself; and if nothing is left.
@BenchActor
struct FaultRun {
    let bench: Bench
    let fault: Fault
    /// What an engine without faults holds at the end; `nil` where that is being found out.
    let usual: Int?

    /// What became of a run.
    struct Outcome {
        let report: FaultReport
        /// Descriptors at the end, if the engine recovered.
        let holdings: Int?
        let code: Int32?
        let errors: String
    }

    /// Codes that a fault may lead to: those of the table but the caller's own mistakes.
    private static let codes: Set<Int32> = [0, 1, 3, 69, 70, 75, 77, 78]
    /// A project in trouble says so, or stops, within this.
    private static let limit = Duration.seconds(20)

    func run() async throws -> Outcome {
        // Whoever could not lock the file must not remove it: it may be another's by now.
        if fault.kind == "lock" { bench.expectedLocks = 1 }
        if fault.spoilsRecords { bench.checksDecisions = false }
        try configure()
        let engine = try bench.start(bench.arguments(["up"]), under: fault)
        var holdings: Int?
        if try await comesUp(engine), try await recovers(engine) {
            holdings = try await takeDown(engine)
        }
        try await bench.end(of: engine, within: Self.limit)
        return try check(engine, holdings)
    }

    private func configure() throws {
        let port = cbench_free_port()
        let restart =
            "restart: {policy: always, limit: {count: 5, window: 1m}, "
            + "backoff: {initial: 10ms, max: 20ms}}"
        try bench.config(
            "exitBudget: 6s",
            services: [
                .puppet(
                    "a", "--ready 0 --say hello\\n", "ready: notify", "startTimeout: 4s",
                    "stopTimeout: 1s", restart),
                .puppet(
                    "b", "--control", "ready: {exec: {command: ['true']}}", "control: true",
                    "needs: [a]", "startTimeout: 4s", "stopTimeout: 1s", restart),
                .puppet(
                    "c", "--port \(port)", "ready: {tcp: '127.0.0.1:\(port)'}",
                    "needs: [b]", "startTimeout: 4s", "stopTimeout: 1s", restart),
            ])
    }

    /// Whether everything came up. Otherwise the engine has ended.
    private func comesUp(_ engine: Program) async throws -> Bool {
        try await bench.wait("the end or everything up", within: Self.limit) { _ in
            engine.ending != nil || engine.output.contains("everything is up")
        }
        return engine.ending == nil
    }

    /// Kills a service and waits until it is there again. Otherwise the engine has ended.
    private func recovers(_ engine: Program) async throws -> Bool {
        let starts = bench.all("b", "start")
        guard let victim = starts.last, let begun = victim.begun else { return true }
        ProcessTable.kill(victim.pid, begun: begun)
        try await bench.wait("the kill to be seen", within: Self.limit) { _ in
            engine.ending != nil || engine.output.contains("b was ended by SIGKILL")
        }
        let isBack = { (text: String) in text.components(of: "b is ready") >= 2 }
        let isOver = { (text: String) in text.contains("gave up") || text.contains("b failed") }
        if fault.goesOn {
            // Some kinds have no call in a restart; a bound for those that never recover.
            let end = Moment.now + .milliseconds(400)
            try await bench.wait("trouble or recovery") { _ in
                engine.ending != nil || isBack(engine.output) || isOver(engine.output)
                    || Moment.now > end
            }
            try bench.endFault()
        }
        try await bench.wait("b to be back", within: Self.limit) { _ in
            engine.ending != nil || isBack(engine.output) || isOver(engine.output)
        }
        return engine.ending == nil
    }

    /// Once the fault is over, the engine answers, holds what it usually does, and ends on request.
    private func takeDown(_ engine: Program) async throws -> Int? {
        try bench.endFault()
        let status = try await bench.run("status", within: Self.limit)
        #expect(
            status.ending == .exited(0) || engine.ending != nil,
            "\(fault): status\n\(status.errors)\(bench.story)")
        if let usual, engine.ending == nil {
            try await bench.wait("the engine to hold \(usual)", within: .seconds(5)) {
                engine.ending != nil || $0.holdings(of: engine) <= usual
            }
        }
        let holdings = bench.holdings(of: engine)
        guard engine.ending == nil else { return nil }
        let down = try await bench.run("down", within: Self.limit)
        let isDown = down.ending == .exited(0) || engine.ending != .exited(0)
        #expect(isDown, "\(fault): down\n\(down.errors)\(bench.story)")
        return holdings
    }

    private func check(_ engine: Program, _ holdings: Int?) throws -> Outcome {
        let report = FaultReport(bench)
        let story = { "\(fault): \(report.log)\n\(bench.story)" }
        if fault.mayAbort, engine.ending == .killed(SIGABRT), engine.output.isEmpty {
            engine.mayCrash = true
            return Outcome(report: report, holdings: nil, code: nil, errors: "libuv ended it\n")
        }
        guard case .exited(let code)? = engine.ending else {
            Issue.record("\(story())")
            return Outcome(report: report, holdings: holdings, code: nil, errors: engine.errors)
        }
        #expect(Self.codes.contains(code), "\(story())")
        if code != 0 {
            let words = ["cannot ", "failed", "gave up", "was not ready"]
            #expect(words.contains { engine.errors.contains($0) }, "\(story())")
        }
        return Outcome(report: report, holdings: holdings, code: code, errors: engine.errors)
    }
}

extension String {
    /// How often another text is in this one.
    fileprivate func components(of text: String) -> Int {
        split(separator: text, omittingEmptySubsequences: false).count - 1
    }
}
