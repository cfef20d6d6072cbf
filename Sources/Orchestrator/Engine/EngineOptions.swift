public import Stoic

/// How an engine is run.
public struct EngineOptions {
    /// The services to start; empty: all that start automatically.
    public var names: [ServiceName]
    /// Who asks for it, in words.
    public var requester: String
    /// Hears every record of an event, on the loop's thread; it must not wait.
    public var onEvent: ((EventRecord) -> Void)?
    /// Hears every line of output, on the loop's thread; it must not wait. `nil`: nobody looks.
    public var onLine: ((LogLine) -> Void)?
    /// Hears of trouble that the journal cannot hold: events that are lost, and the very end.
    public var onTrouble: ((String) -> Void)?

    /// The options of a run nobody looks at.
    public init(names: [ServiceName] = [], requester: String) {
        self.names = names
        self.requester = requester
    }
}

/// How the end of a project is told to a caller.
public struct ProjectResult: Hashable, Sendable {
    /// What the brain says of it; `nil` after a defect of ours.
    public let outcome: ProjectOutcome?
    /// Why it ended, in words.
    public let cause: String
    /// Processes that outlived everything: name of the service, pid, command line.
    public let survivors: [Survivor]
    /// What failed, each as one sentence.
    public var failures: [String] = []

    /// A process that outlived its stop.
    public struct Survivor: Hashable, Sendable, CustomStringConvertible {
        /// The service whose tree it belongs to; `nil` when nobody can tell.
        public let service: String?
        /// Its pid, as of the end.
        public let pid: Int32
        /// Its command line.
        public let command: String

        /// For people: `sleep 600 (pid 412, of db)`.
        public var description: String {
            "\(command) (pid \(pid)\(service.map { ", of \($0)" } ?? ""))"
        }
    }
}
