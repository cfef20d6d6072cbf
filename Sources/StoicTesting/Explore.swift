import Glibc
import Stoic

/// Runs `body` in many simulations: each seed under each order of `portfolio`, until one fails.
///
/// A failing run is reduced to the fewest preemptions that still fail, and reported with both ways
/// to run it again: `SIM_SEED=17 SIM_ORDER=pct3@420` in the environment makes every `explore` run
/// just that, with nothing caught, so that a debugger stops where it happens. `STOIC_SEEDS=10000`
/// in the environment takes the place of `seeds`, for every `explore` there is.
///
/// ```swift
/// try await explore(seeds: 50) { _ in
///     let slot = WorkSlot<Page>("page")
///     async let first = slot.run(.join) { try await client.fetch() }
///     async let second = slot.run(.join) { try await client.fetch() }
///     _ = try await (first, second)
///     #expect(!slot.isTaken)
/// }
/// ```
/// - Parameters:
///   - seeds: How many seeds; default 20, which is 80 runs.
///   - portfolio: The orders. Take `SimulatedOrder.punctual` where the body counts on it that time
///     stands still while anything can run.
///   - body: What must hold. It fails by throwing, or by an expectation of Swift Testing.
/// - Throws: `SimulatedFailure`.
public func explore(
    seeds: Int = 20, under portfolio: [SimulatedOrder] = SimulatedOrder.portfolio,
    _ body: @escaping @Sendable (SimulatedWorld) async throws -> Void
) async throws {
    if let replay = Replay.fromEnvironment {
        let run = SimulatedRun(seed: replay.seed, order: replay.order)
        return try await run.run(body).get()
    }
    let count = environment("STOIC_SEEDS").flatMap { Int($0) } ?? seeds
    for seed in 0..<UInt64(max(count, 1)) {
        try await Exploration(seed: seed, portfolio: portfolio, body: body).run()
        // Tests in real time run beside this one.
        await Task.yield()
    }
}

/// One certain run that somebody asks for.
private struct Replay {
    let seed: UInt64
    let order: SimulatedOrder

    static var fromEnvironment: Replay? {
        guard let seed = environment("SIM_SEED").flatMap({ UInt64($0) }) else { return nil }
        let text = environment("SIM_ORDER") ?? "fifo"
        guard let order = SimulatedOrder(text) else {
            preconditionFailure("SIM_ORDER=\(text) is no order: fifo, uniform, pct3@420, early, …")
        }
        return Replay(seed: seed, order: order)
    }
}

private func environment(_ name: String) -> String? {
    // SAFETY: the text is copied at once, before anything here changes the environment.
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
}

/// One seed under every order.
struct Exploration: Sendable {
    let seed: UInt64
    let portfolio: [SimulatedOrder]
    let body: @Sendable (SimulatedWorld) async throws -> Void

    /// - Throws: `SimulatedFailure`, the first one.
    func run() async throws {
        var horizon: Int?
        for order in portfolio {
            var order = order
            if case .pct(let depth, nil) = order {
                if horizon == nil { horizon = await steps(of: .firstComeFirstServed) }
                order = .pct(depth: depth, horizon: horizon)
            }
            let attempt = await Attempt.run(seed, order, body)
            if horizon == nil { horizon = max(attempt.simulation.trace.steps, 1) }
            if let what = attempt.failure { throw await report(order, attempt, what) }
        }
    }

    private func steps(of order: SimulatedOrder) async -> Int {
        await Attempt.run(seed, order, body).simulation.trace.steps
    }

    private func report(
        _ order: SimulatedOrder, _ attempt: Attempt, _ what: Attempt.Failure
    ) async -> SimulatedFailure {
        let picks = attempt.simulation.trace.picks
        let (reduced, runs) = await Reduction(seed: seed, kind: what.kind, body: body).reduce(picks)
        let last = await Attempt.run(seed, .picks(reduced), body)
        let isRepeated = last.failure?.kind == what.kind
        let shown = isRepeated ? last : attempt
        return SimulatedFailure(
            seed: seed, order: order, failure: shown.failure?.text ?? what.text,
            preemptionsFound: picks.count, reduced: isRepeated ? reduced : nil, replays: runs + 1,
            story: shown.story)
    }
}

/// A body that does not hold in every order, and the shortest way to see it.
public struct SimulatedFailure: Error, CustomStringConvertible {
    /// The seed that failed.
    public let seed: UInt64
    /// The order it failed under.
    public let order: SimulatedOrder
    /// What failed: the errors and expectations, one to a line.
    public let failure: String
    /// How many steps of the failing run were not first come, first served.
    public let preemptionsFound: Int
    /// The fewest of them that still fail; `nil` if the failure does not repeat: then something
    /// outside of the simulation decides, such as a thread, a real clock or an address.
    public let reduced: [Int: SimulatedPick]?
    /// How many runs the reduction took.
    public let replays: Int
    /// What happened at those steps, one to a line.
    public let story: [String]

    public var description: String {
        var lines = ["fails with SIM_SEED=\(seed) SIM_ORDER=\(order)", failure]
        if let reduced {
            lines.append(
                "reduced from \(preemptionsFound) to \(reduced.count) preemptions in \(replays) "
                    + "runs: SIM_SEED=\(seed) SIM_ORDER=\(SimulatedOrder.picks(reduced))")
            lines += story.map { "  " + $0 }
        } else {
            lines.append("it does not fail again: something outside of the simulation decides")
        }
        return lines.joined(separator: "\n")
    }
}
