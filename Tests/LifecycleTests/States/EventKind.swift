import Simulation

@testable import Stoic

/// Every kind of event there is, one of each. A new one that stands in no table fails every table.
enum EventKind: String, CaseIterable {
    case launched, launchFailed, exitedWell, exitedBadly, treeEmpty
    case ready, notReady, channelOpened, stopping, extendTimeout
    case watchdogPing, watchdogInterval, watchdogOff, watchdogTrigger
    case probePassed, probeFailed
    case startTimer, rungTimer, killTimer, abandonTimer, watchdogTimer, healthyTimer
    case backoffTimer, budgetTimer, paused
    case needMet, needLost
    case up, start, stop, down, restart, stopProject, force, signal, reload
    case planChanges, planRemoves, adopt, freeze, replicas
}

extension StateTable {
    mutating func take(_ kind: EventKind) {
        switch kind {
        case .launched: process(.launched)
        case .launchFailed: process(.launchFailed(SimulatedHost.noFile))
        case .exitedWell: process(.mainExited(.code(0)))
        case .exitedBadly: process(.mainExited(.code(1)))
        case .treeEmpty: process(.treeEmpty)
        case .ready: say(.ready)
        case .notReady: say(.notReady("busy"))
        case .channelOpened: say(.channelOpened)
        case .stopping: say(.stopping)
        case .extendTimeout: say(.extendTimeout(.seconds(60)))
        case .watchdogPing: say(.watchdogPing)
        case .watchdogInterval: say(.watchdogInterval(.seconds(7)))
        case .watchdogOff: say(.watchdogInterval(nil))
        case .watchdogTrigger: say(.watchdogTrigger)
        case .probePassed: say(.probePassed)
        case .probeFailed: say(.probeFailed("no answer"))
        case .startTimer: fire(.start(life))
        case .rungTimer: fire(.rung(life))
        case .killTimer: fire(.kill(life))
        case .abandonTimer: fire(.abandon(life))
        case .watchdogTimer: fire(.watchdog(life))
        case .healthyTimer: fire(.healthy(life))
        case .backoffTimer: fire(.backoff(subject))
        case .budgetTimer: fire(.exitBudget)
        case .paused: send(.timer(.paused(.seconds(1))))
        case .needMet: need(.met)
        case .needLost: need(.lost)
        case .up: command(.up)
        case .start: command(.start([subject]))
        case .stop: command(.stop([subject]))
        case .down: command(.down([subject]))
        case .restart: command(.restart([subject]))
        case .stopProject: command(.stopProject(.requested("test")))
        case .force: command(.force)
        case .signal: command(.signal(subject, 10, .main))
        case .reload: command(.reload(subject, 1))
        case .planChanges: plan { $0[1].launchDigest = 1 }
        case .planRemoves:
            plan { specs in
                specs.removeAll { $0.name == "s" }
                for index in specs.indices { specs[index].needs = [] }
            }
        case .adopt: command(.adopt(subject))
        case .freeze: command(.freeze(subject, true))
        case .replicas: command(.replicas(subject, 2))
        }
    }
}
