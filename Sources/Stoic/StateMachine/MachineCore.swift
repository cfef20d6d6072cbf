/// An event on its way to a machine.
struct MachineInput<Event: Sendable>: Sendable {
    let event: Event
    /// The stay in a state it belongs to; `nil` if it came from outside.
    let generation: UInt64?
}

/// How a wait for a state ended.
enum MachineWait<State: Sendable>: Sendable {
    case entered(State)
    case ended, cancelled
}

/// What a state machine remembers: its state, what it has to answer, and who waits.
struct MachineCore<State: Hashable & Sendable, Event: Sendable> {
    /// How many events from outside may wait.
    static var capacity: Int { 64 }

    private enum Life { case new, running, ended }

    private struct Waiter {
        let states: Set<State>
        let parking: Parking<MachineWait<State>>
    }

    enum Addition {
        case added(Parking<Bool>?)
        case full, ended
    }

    enum WaiterAddition {
        case isThere(State)
        case added(UInt64)
        case isOver
    }

    private(set) var state: State
    private(set) var generation: UInt64 = 0
    private var life = Life.new
    private var inputs: [MachineInput<Event>] = []
    /// How many of `inputs` came from outside.
    private var outside = 0
    private var reader: Parking<Bool>?
    private var waiters: [UInt64: Waiter] = [:]
    private var nextWaiter: UInt64 = 0

    init(state: State) { self.state = state }

    /// Whether it may run now.
    mutating func begin() -> Bool {
        guard life == .new else { return false }
        life = .running
        return true
    }

    /// An event from outside.
    mutating func add(_ event: Event) -> Addition {
        guard life != .ended else { return .ended }
        guard outside < Self.capacity else { return .full }
        outside += 1
        inputs.append(MachineInput(event: event, generation: nil))
        return .added(takeReader())
    }

    /// An event of a stay in a state. Not counted: a stay has only so many timeouts and one end.
    mutating func add(_ event: Event, of generation: UInt64) -> Parking<Bool>? {
        guard life != .ended else { return nil }
        inputs.append(MachineInput(event: event, generation: generation))
        return takeReader()
    }

    /// The next event, or `reader` is woken when there is one.
    mutating func next(or reader: Parking<Bool>) -> MachineInput<Event>? {
        guard !inputs.isEmpty else {
            self.reader = reader
            return nil
        }
        let input = inputs.removeFirst()
        if input.generation == nil { outside -= 1 }
        return input
    }

    /// Begins a stay in `state`; gives its generation, and who waited for it.
    mutating func enter(_ state: State) -> (UInt64, [Parking<MachineWait<State>>]) {
        self.state = state
        generation += 1
        let woken = waiters.filter { $0.value.states.contains(state) }
        for id in woken.keys { waiters[id] = nil }
        return (generation, Self.inOrder(woken))
    }

    /// It ends; gives who waits in vain.
    mutating func end() -> [Parking<MachineWait<State>>] {
        life = .ended
        inputs = []
        outside = 0
        let woken = waiters
        waiters = [:]
        return Self.inOrder(woken)
    }

    mutating func addWaiter(
        for states: Set<State>, _ parking: Parking<MachineWait<State>>
    ) -> WaiterAddition {
        if states.contains(state) { return .isThere(state) }
        guard life != .ended else { return .isOver }
        let id = nextWaiter
        nextWaiter += 1
        waiters[id] = Waiter(states: states, parking: parking)
        return .added(id)
    }

    mutating func removeWaiter(_ id: UInt64) { waiters[id] = nil }

    private mutating func takeReader() -> Parking<Bool>? {
        defer { reader = nil }
        return reader
    }

    private static func inOrder(_ waiters: [UInt64: Waiter]) -> [Parking<MachineWait<State>>] {
        waiters.sorted { $0.key < $1.key }.map(\.value.parking)
    }
}
