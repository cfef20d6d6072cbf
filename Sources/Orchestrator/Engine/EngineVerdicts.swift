import Glibc
import Stoic

/// Whether something is so, can no longer become so, or is not decided yet.
enum Verdict3 {
    case yes
    case no
    case open
}

extension ServiceState {
    /// Whether others can use it.
    var isThere: Verdict3 {
        switch self {
        case .up(_, .ready), .up(_, .completed), .ended(.completed): .yes
        case .ended(.exited(let status)): status.isSuccess ? .yes : .no
        case .ended(.failed), .ended(.gaveUp), .ended(.held), .ended(.stopped), .abandoned: .no
        case .ended(.neverStarted), .waiting, .starting, .up, .stopping, .backingOff: .open
        }
    }

    /// Whether no process of it is left.
    var isDown: Verdict3 {
        switch self {
        case .ended, .waiting: .yes
        case .abandoned: .no
        case .starting, .up, .stopping, .backingOff: .open
        }
    }

    var isCompleted: Verdict3 {
        switch self {
        case .up(_, .completed), .ended(.completed): .yes
        case .ended(.exited(let status)): status.isSuccess ? .yes : .no
        case .ended(.failed), .ended(.gaveUp), .ended(.held), .ended(.stopped), .abandoned: .no
        case .ended(.neverStarted), .waiting, .starting, .up, .stopping, .backingOff: .open
        }
    }
}

extension Engine {
    /// What cannot become ready any more of what is wanted, in words, while the project goes on all
    /// the same (`onStartFailure: keep`).
    public var startFailures: [String] {
        switch machine.phase {
        case .comingUp, .settled:
            machine.services
                .filter { machine.isWanted($0) && machine.state(of: $0).isThere == .no }
                .map(whyNot)
        case .idle, .stopping, .ended: []
        }
    }

    /// Why a service will not get where somebody waits for it to be.
    func whyNot(_ id: ServiceID) -> String {
        switch machine.state(of: id) {
        case .ended(.held(let requester)): "\(name(id)) was stopped by \(requester)"
        case .ended(.stopped), .ended(.completed): "\(name(id)) has stopped"
        case .abandoned: "\(name(id)) outlived SIGKILL"
        case .ended, .waiting, .starting, .up, .stopping, .backingOff: failureText(id)
        }
    }
}

extension JSONValue {
    /// A number of seconds.
    var seconds: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .number(let number): number
        case .null, .bool, .string, .array, .object: nil
        }
    }
}

extension ProjectResult.Survivor {
    var json: JSONValue {
        .object([
            "service": service.map { .string($0) } ?? .null,
            "pid": .integer(Int64(pid)),
            "command": .string(command),
        ])
    }
}

func getOwnPID() -> Int32 { getpid() }
