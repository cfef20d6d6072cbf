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
