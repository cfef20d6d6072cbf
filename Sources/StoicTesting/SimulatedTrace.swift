import Stoic

/// What a simulation picked at each step. A step is one job run, or one timer fired early.
struct SimulatedTrace: Sendable {
    /// A step at which not the longest waiting task ran.
    struct Preemption: Sendable {
        let pick: SimulatedPick
        /// The task that ran; 0 for a timer.
        let task: Int
        /// The task that had waited longest.
        let overtaken: Int
    }

    /// How many steps there were.
    var steps = 0
    /// The steps that were not first come, first served.
    var preemptions: [Int: Preemption] = [:]

    /// The order that does the same again.
    var picks: [Int: SimulatedPick] { preemptions.mapValues(\.pick) }
}

/// Chooses what runs next.
struct SimulatedPicker {
    /// After how many times of giving way a task falls behind all others.
    private static let patience = 16

    private let order: SimulatedOrder
    private var random: RandomSource
    /// Of every task seen, the higher the sooner.
    private var priorities: [Int: Int64] = [:]
    private var changePoints: [Int] = []
    /// How often each task gave way.
    private var yields: [Int: Int] = [:]
    /// Given to those that fall behind all others.
    private var lowest: Int64 = -1

    init(_ order: SimulatedOrder, seed: UInt64) {
        self.order = order
        random = .seeded(seed)
        if case .pct(let depth, let horizon) = order {
            changePoints = (1..<max(depth, 1)).map { _ in
                Int.random(in: 0..<max(horizon ?? 1_000, 1), using: &random)
            }
        }
    }

    /// - Parameters:
    ///   - step: The number of this choice.
    ///   - ready: The tasks that could run, the one that has waited longest first; not empty.
    ///   - timerWaits: Whether there is a timer to fire.
    mutating func pick(step: Int, _ ready: [Int], timerWaits: Bool) -> SimulatedPick {
        switch order {
        case .firstComeFirstServed:
            return .ready(0)
        case .uniform:
            return .ready(Int.random(in: 0..<ready.count, using: &random))
        case .earlyTimers:
            if timerWaits, Int.random(in: 0..<4, using: &random) == 0 { return .timer }
            return .ready(Int.random(in: 0..<ready.count, using: &random))
        case .pct:
            return .ready(highest(step, ready))
        case .picks(let picks):
            switch picks[step] {
            case .timer: return timerWaits ? .timer : .ready(0)
            case .ready(let place): return .ready(min(place, ready.count - 1))
            case nil: return .ready(0)
            }
        }
    }

    private mutating func highest(_ step: Int, _ ready: [Int]) -> Int {
        for task in ready where priorities[task] == nil {
            priorities[task] = Int64.random(in: 0...Int64.max, using: &random)
        }
        if changePoints.contains(step) { demote(ready[place(ready)]) }
        return place(ready)
    }

    private func place(_ ready: [Int]) -> Int {
        var best = 0
        for place in ready.indices.dropFirst()
        where (priorities[ready[place]] ?? 0) > (priorities[ready[best]] ?? 0) {
            best = place
        }
        return best
    }

    /// A task that gives way again and again waits for others: with its priority it would wait for
    /// ever.
    mutating func noteYield(of task: Int) {
        guard case .pct = order else { return }
        yields[task, default: 0] += 1
        if yields[task, default: 0].isMultiple(of: Self.patience) { demote(task) }
    }

    private mutating func demote(_ task: Int) {
        priorities[task] = lowest
        lowest -= 1
    }
}
