package import Stoic

/// The brain with the checker behind it: every event goes through both.
package struct CheckedMachine: Sendable {
    /// The brain.
    package private(set) var machine: LifecycleMachine
    /// What it is held to.
    package private(set) var checker: InvariantChecker
    /// What the last event led to.
    package var output = LifecycleOutput()

    /// A machine to which nothing has happened yet.
    package init(_ machine: LifecycleMachine) {
        self.machine = machine
        checker = InvariantChecker(machine)
    }

    /// What is true of each service's process, by slot.
    package var seats: [Seat] { checker.seats }
    /// Whether the project has ended.
    package var isOver: Bool { checker.isOver }
    /// What was found wrong, in words.
    package var violations: [String] { checker.violations }

    /// Sends one event and checks all that follows from it.
    package mutating func send(_ event: LifecycleEvent, at now: Instant) {
        checker.expect(event, machine)
        output.decisions.removeAll(keepingCapacity: true)
        output.effects.removeAll(keepingCapacity: true)
        machine.handle(event, at: now, into: &output)
        checker.judge(output, machine, at: now)
    }
}
