import Stoic
import Synchronization
import Testing

/// One run of a body whose failure is wanted as a value.
struct Attempt: Sendable {
    /// What failed.
    struct Failure: Sendable {
        /// What kind of failure: runs that fail in another way are another fault.
        let kind: String
        /// The errors and expectations, one to a line.
        let text: String
    }

    let simulation: SimulatedRun
    let failure: Failure?

    /// Runs `body` once. Expectations that fail in it are kept back from the test: the caller fails
    /// the test itself, once it knows more.
    static func run(
        _ seed: UInt64, _ order: SimulatedOrder,
        _ body: @escaping @Sendable (SimulatedWorld) async throws -> Void
    ) async -> Attempt {
        let simulation = SimulatedRun(seed: seed, order: order)
        let issues = Mutex<[String]>([])
        let thrown = Mutex<(any Error)?>(nil)
        await withKnownIssue(isIntermittent: true) {
            switch await simulation.run(body) {
            case .success: break
            case .failure(let error): thrown.withLock { $0 = error }
            }
        } matching: { issue in
            issues.withLock { $0.append("\(issue)") }
            return true
        }
        let lines = issues.withLock { $0 }
        if let error = thrown.withLock({ $0 }) {
            let text = (lines + ["\(error)"]).joined(separator: "\n")
            return Attempt(
                simulation: simulation,
                failure: Failure(kind: "error \(type(of: error))", text: text))
        }
        guard !lines.isEmpty else { return Attempt(simulation: simulation, failure: nil) }
        return Attempt(
            simulation: simulation,
            failure: Failure(kind: "expectation", text: lines.joined(separator: "\n")))
    }

    /// What was out of order, one step to a line.
    var story: [String] {
        simulation.trace.preemptions.sorted { $0.key < $1.key }.map { step, preemption in
            let overtaken = simulation.name(of: preemption.overtaken)
            switch preemption.pick {
            case .timer:
                return "step \(step): a timer fires although \(overtaken) can run"
            case .ready:
                return "step \(step): \(simulation.name(of: preemption.task)) runs before "
                    + overtaken
            }
        }
    }
}

/// Leaves out preemptions for as long as the rest still fails in the same way.
struct Reduction: Sendable {
    /// The most runs it takes; what it has by then is good enough.
    static let mostRuns = 200

    let seed: UInt64
    let kind: String
    let body: @Sendable (SimulatedWorld) async throws -> Void

    /// - Returns: What is left, and how many runs it took.
    func reduce(_ picks: [Int: SimulatedPick]) async -> ([Int: SimulatedPick], Int) {
        var left = picks.keys.sorted()
        var runs = 0
        func fails(_ steps: [Int]) async -> Bool {
            runs += 1
            let some = picks.filter { steps.contains($0.key) }
            return await Attempt.run(seed, .picks(some), body).failure?.kind == kind
        }
        if await fails([]) { return ([:], runs) }
        var stretch = max(left.count / 2, 1)
        while runs < Self.mostRuns {
            var start = 0
            var isFewer = false
            while start < left.count, runs < Self.mostRuns {
                var fewer = left
                fewer.removeSubrange(start..<min(start + stretch, left.count))
                if await fails(fewer) {
                    left = fewer
                    isFewer = true
                } else {
                    start += stretch
                }
            }
            // One that had to stay may go once others have gone.
            if stretch == 1, !isFewer { break }
            stretch = max(stretch / 2, 1)
        }
        let kept = left
        return (picks.filter { kept.contains($0.key) }, runs)
    }
}
