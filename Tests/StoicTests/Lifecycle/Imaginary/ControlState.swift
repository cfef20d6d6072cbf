@testable import Stoic

/// All of a run that the future depends on, without numbers that only grow: two runs with equal
/// control states behave alike from here on.
struct ControlState: Hashable {
    private let services: [Service]
    private let phase: LifecycleMachine.Phase
    private let wasForced: Bool
    private let running: Set<Int>
    private let budget: [Int]

    private struct Service: Hashable {
        let state: ServiceState
        let process: ImaginaryHost.Process?
        let owners: Node.Owners
        let facts: Node.IncarnationFacts
        let ledger: RestartLedger
        let rank: Int
        let timers: Set<TimerID>
    }

    init(_ host: ImaginaryHost, faults: Int, commands: Int) {
        let machine = host.machine
        let stamps = machine.nodes.map(\.readyStamp).sorted()
        services = machine.nodes.map { node in
            let life = node.state.incarnation
            return Service(
                state: node.state.anonymous, process: life.flatMap { host.processes[$0] },
                owners: node.owners, facts: node.facts, ledger: node.ledger,
                rank: node.readyStamp == 0 ? -1 : stamps.firstIndex(of: node.readyStamp) ?? -1,
                timers: Set(host.timers.compactMap { $0.anonymous(for: node.id, life) }))
        }
        phase = machine.phase
        wasForced = machine.wasForced
        running = machine.stops.running
        budget = [faults, commands, host.timers.contains(.exitBudget) ? 1 : 0]
    }
}

extension ServiceState {
    fileprivate var anonymous: ServiceState {
        let nobody = Incarnation(0)
        switch self {
        case .starting(_, let phase): return .starting(nobody, phase)
        case .up(_, let health): return .up(nobody, health)
        case .stopping(_, let stop): return .stopping(nobody, stop)
        case .abandoned(_, let next): return .abandoned(nobody, next)
        case .waiting, .backingOff, .ended: return self
        }
    }
}

extension TimerID {
    fileprivate func anonymous(for service: ServiceID, _ life: Incarnation?) -> TimerID? {
        let nobody = Incarnation(0)
        switch self {
        case .start(life): return .start(nobody)
        case .rung(life): return .rung(nobody)
        case .kill(life): return .kill(nobody)
        case .abandon(life): return .abandon(nobody)
        case .watchdog(life): return .watchdog(nobody)
        case .healthy(life): return .healthy(nobody)
        case .backoff(service): return self
        case .start, .rung, .kill, .abandon, .watchdog, .healthy, .backoff, .exitBudget: return nil
        }
    }
}
