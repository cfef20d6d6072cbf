/// A simulation that cannot go on: nothing can run, nobody sleeps, and the body has not ended.
public struct SimulatedDeadlock: Error, CustomStringConvertible {
    /// The seed that leads here.
    public let seed: UInt64
    /// The order that leads here.
    public let order: SimulatedOrder
    /// Every wait of the library: which task waits for what, where in the source, and in which
    /// scopes. A wait that is not the library's own (a stream, a continuation, an actor) is not in
    /// it.
    public let waiters: [String]

    init(_ simulation: SimulatedRun, _ waiters: [String]) {
        seed = simulation.seed
        order = simulation.order
        self.waiters = waiters
    }

    public var description: String {
        "the simulation stands still: nothing can run and nobody sleeps (seed \(seed), "
            + "order \(order))" + list(waiters)
    }
}

/// A simulation that does not end: so many steps, and the body still runs.
public struct SimulatedLivelock: Error, CustomStringConvertible {
    /// How many steps there were.
    public let steps: Int
    /// The seed that leads here.
    public let seed: UInt64
    /// The order that leads here.
    public let order: SimulatedOrder
    /// Every wait of the library, as in `SimulatedDeadlock`.
    public let waiters: [String]

    init(_ simulation: SimulatedRun, _ waiters: [String]) {
        seed = simulation.seed
        order = simulation.order
        steps = simulation.mostSteps
        self.waiters = waiters
    }

    public var description: String {
        "the simulation goes round in circles: no end after \(steps) steps "
            + "(seed \(seed), order \(order))" + list(waiters)
    }
}

private func list(_ waiters: [String]) -> String {
    if waiters.isEmpty { return "; whoever waits does so outside of the library" }
    return waiters.map { "\n  " + $0 }.joined()
}
