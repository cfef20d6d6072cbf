public import Stoic

/// What the program tells its caller: the one table behind the code, the help pages, the
/// reference and the tests. Scripts rely on the numbers; they never change their meaning.
public enum ExitCode: Hashable, Sendable {
    /// What was asked for is done.
    case done
    /// A service failed to start or gave up.
    case serviceFailed
    /// A process outlived the stop, SIGKILL included.
    case survivors
    /// The command line itself is wrong.
    case usage
    /// Nothing runs that could answer.
    case nothingRuns
    /// Our own defect, or an output that cannot be written.
    case defect
    /// A time limit of the caller passed.
    case timedOut
    /// The system or the engine does not permit it.
    case notPermitted
    /// The config is missing or wrong.
    case config
    /// Ctrl-C ended it.
    case interrupted
    /// The essential service's own code, handed on by `up`.
    case essential(Int32)

    /// The codes with a fixed number, in the order of the reference.
    public static let table: [ExitCode] = [
        .done, .serviceFailed, .survivors, .usage, .nothingRuns, .defect, .timedOut,
        .notPermitted, .config, .interrupted,
    ]

    /// The number the process exits with, 0 to 255.
    public var number: Int32 {
        switch self {
        case .done: 0
        case .serviceFailed: 1
        case .survivors: 3
        case .usage: 64
        case .nothingRuns: 69
        case .defect: 70
        case .timedOut: 75
        case .notPermitted: 77
        case .config: 78
        case .interrupted: 130
        case .essential(let code): code & 0xff
        }
    }

    /// One line for people.
    public var meaning: String {
        switch self {
        case .done: "Done."
        case .serviceFailed: "A service failed to start, failed or gave up."
        case .survivors: "A process outlived the stop; it is named."
        case .usage: "The command line is wrong."
        case .nothingRuns: "Nothing runs for this project."
        case .defect: "A defect of orchestrator, or its output cannot be written."
        case .timedOut: "A time limit passed; what was asked for goes on."
        case .notPermitted: "Not permitted."
        case .config: "The config is missing or wrong."
        case .interrupted: "Stopped by Ctrl-C."
        case .essential(let code): "The essential service ended with \(code)."
        }
    }

    /// The code with this number. Any number without a meaning of ours is an essential service's.
    public init(number: Int32) {
        self = Self.table.first { $0.number == number } ?? .essential(number)
    }

    /// What `up` answers. The first that holds: something is left, the essential service's own
    /// code, a service failed, Ctrl-C, done. A stop by SIGTERM or `down` is a success.
    public init(of outcome: ProjectOutcome) {
        if !outcome.abandoned.isEmpty {
            self = .survivors
        } else if let status = outcome.essentialStatus {
            self = Self.essential(status)
        } else if !outcome.failed.isEmpty {
            self = .serviceFailed
        } else {
            self = Self.ofCause(outcome.cause)
        }
    }

    private static func essential(_ status: ExitStatus) -> ExitCode {
        switch status {
        // Its own code stays its own, although the number may mean something else of ours.
        case .code(let code): code == 0 ? .done : .essential(code)
        case .signal(let number, coreDumped: _): .essential(128 + number)
        case .unknown: .serviceFailed
        }
    }

    private static func ofCause(_ cause: StopCause) -> ExitCode {
        switch cause {
        case .signal(let number): number == 2 ? .interrupted : .done
        case .startFailed: .serviceFailed
        case .requested, .allEnded, .essentialEnded: .done
        }
    }
}
