import Simulation

@testable import Stoic

/// All of a run that the future depends on, without numbers that only grow: two runs whose control
/// states are equal behave alike from here on. A state is kept as its hash: among ten million, two
/// of 64 bits meet by chance once in 370,000 runs.
struct ControlState: Hashable {
    private let hash: Int

    init(_ host: CheckedMachine, plans: [Plan]) {
        var hasher = Hasher()
        let machine = host.machine
        let seats = host.seats
        for slot in machine.nodes.indices {
            Self.hash(machine.nodes[slot].state, &hasher)
            hasher.combine(machine.nodes[slot].owners)
            hasher.combine(machine.nodes[slot].facts)
            machine.nodes[slot].ledger.hashControl(machine.nodes[slot].spec, &hasher)
            let seat = seats[slot]
            hasher.combine(seat.main)
            hasher.combine(seat.facts)
            hasher.combine(seat.timers)
            hasher.combine(seat.asked == nil)
            hasher.combine(Self.rank(slot, machine))
        }
        hasher.combine(machine.phase)
        hasher.combine(machine.wasForced)
        hasher.combine(machine.wantsAll)
        hasher.combine(machine.stops.running)
        hasher.combine(host.checker.hasBudgetTimer)
        if !plans.isEmpty { Self.hash(plans: plans, machine, &hasher) }
        hash = hasher.finalize()
    }

    /// The place of a service in the order of readiness, among those whose place still matters.
    private static func rank(_ slot: Int, _ machine: LifecycleMachine) -> Int {
        guard machine.nodes[slot].isRanked else { return -1 }
        let stamp = machine.nodes[slot].readyStamp
        var rank = 0
        for other in machine.nodes.indices
        where machine.nodes[other].isRanked && machine.nodes[other].readyStamp < stamp {
            rank += 1
        }
        return rank
    }

    private static func hash(_ state: ServiceState, _ hasher: inout Hasher) {
        switch state {
        case .waiting(let blockers):
            hasher.combine(1)
            hasher.combine(blockers)
        case .starting(_, let phase):
            hasher.combine(2)
            hasher.combine(phase)
        case .up(_, let health):
            hasher.combine(3)
            hasher.combine(health)
        case .stopping(_, let stop):
            hasher.combine(4)
            hasher.combine(stop)
        case .backingOff: hasher.combine(5)
        case .abandoned(_, let next):
            hasher.combine(6)
            hasher.combine(next)
        case .ended(let reason):
            hasher.combine(7)
            hasher.combine(reason)
        }
    }

    /// What only plans change: the specs, the edges, and how far the plan has come.
    private static func hash(
        plans: [Plan], _ machine: LifecycleMachine, _ hasher: inout Hasher
    ) {
        func number(_ plan: Plan?) -> Int {
            guard let plan else { return -2 }
            return plans.firstIndex { $0.specs == plan.specs } ?? -1
        }
        for (slot, node) in machine.nodes.enumerated() {
            hasher.combine(node.needs)
            hasher.combine(node.spec.launchDigest)
            hasher.combine(machine.slotOfName[node.spec.name] == slot)
        }
        hasher.combine(number(machine.current))
        hasher.combine(machine.current.rollsBack)
        hasher.combine(number(machine.planInFlight?.previous))
        hasher.combine(machine.planInFlight?.touched)
        hasher.combine(machine.planInFlight?.rollsBack)
    }
}

extension Node {
    /// Whether its place in the order of readiness may still matter.
    fileprivate var isRanked: Bool {
        switch state {
        case .up: true
        case .stopping(_, let stop): stop.rung.isQueued
        case .waiting, .starting, .backingOff, .abandoned, .ended: false
        }
    }
}

extension RestartLedger {
    /// The ledger as the rules see it while no time passes.
    fileprivate func hashControl(_ spec: ServiceSpec, _ hasher: inout Hasher) {
        hasher.combine(restartsLeft(spec.restart, at: CheckedMachine.moment.boot))
        hasher.combine(step > 0)
        hasher.combine(min(attempts, spec.startAttempts))
    }
}
