import Stoic

/// One start of one program, as both sides see it: tasks wait here for what the thread that owns
/// the process makes happen.
final class ProcessLife: Sendable {
    let name: String
    let command: ProcessCommand
    let stopTimeout: Duration
    /// Whom events of the thread are reported to.
    let events = EventOrigin()
    /// It can be used, or why it cannot.
    let ready = Completion<Result<ChildProcess, ProcessFailure>>()
    /// It ended by itself; `nil` if it was asked to.
    let died = Completion<ProcessFailure?>()
    /// Nothing of it runs any more, but these.
    let ended = Completion<[Int32]>()

    /// How long the stop of a program may take that has not become ready.
    static let unreadyStop = Duration.seconds(5)

    init(_ name: String, _ command: ProcessCommand, _ stopTimeout: Duration) {
        self.name = name
        self.command = command
        self.stopTimeout = stopTimeout
    }

    /// Starts it, and returns when it can be used. If that does not happen, nothing of it is left
    /// when this throws.
    nonisolated(nonsending) func start() async throws -> ChildProcess {
        try Task.checkCancellation()
        let thread = ProcessThread.shared
        thread.post(.start(self))
        let outcome = await ready.wait()
        if case .success(let child)? = outcome { return child }
        if outcome == nil {
            let reason = Cancellation.cause?.description ?? "cancelled"
            thread.post(.stop(self, reason: reason, within: min(stopTimeout, Self.unreadyStop)))
        }
        // Bounded by the rules of its stop.
        await shielded { _ = await ended.wait() }
        switch outcome {
        case .failure(let failure)?: throw failure
        case .success?, nil: throw CancellationError()
        }
    }

    /// Returns when it is asked to stop, and throws when it ends before that.
    nonisolated(nonsending) func watch() async throws {
        guard let failure = await died.wait() ?? nil else { return }
        throw failure
    }

    /// Stops it within what the graph gives, and returns when nothing of it is left.
    nonisolated(nonsending) func stop(_ exit: Exit) async throws {
        let within = min(Deadline.current?.remaining ?? stopTimeout, stopTimeout)
        let thread = ProcessThread.shared
        thread.post(.stop(self, reason: exit.words, within: within))
        var survivors = await ended.wait()
        if survivors == nil {
            // The graph waits no longer: it gives a second for what SIGKILL takes.
            thread.post(.force(self))
            survivors = await shielded { await ended.wait() }
        }
        if let survivors, !survivors.isEmpty {
            throw ProcessFailure.outlived(service: name, survivors)
        }
    }

    /// The thread cannot do anything for it.
    func fail(_ failure: ProcessFailure) {
        ready.fulfil(.failure(failure))
        died.fulfil(failure)
        ended.fulfil([])
    }
}

extension Exit {
    /// By what it is stopped, for the program's stop message.
    fileprivate var words: String {
        switch self {
        case .success: "the end of its graph"
        case .failure(let error): "a failure: \(error)"
        case .cancelled(.requested): "request"
        case .cancelled(let cause): cause.description
        }
    }
}
