/// One start of a service, and what became of it.
struct GraphLife {
    /// How far it has come.
    enum Phase {
        /// Its start runs; `nil` for the moment in which its task is made.
        case starting(Task<Void, Never>?)
        /// Its start returned; its work, if it has any, runs.
        case up(any Sendable, work: GraphWork?)
        /// Its stop runs; `nil` as above.
        case stopping(Task<Void, Never>?)
        /// Neither runs any more.
        case over
    }

    let slot: Int
    /// Why what runs now was cancelled.
    var cause: CauseBox
    var phase: Phase
    /// Its stop has begun while its start still ran: what the start returns is stopped at once.
    var isUnwanted = false
    /// It ignored everything, and is counted as left behind.
    var isAbandoned = false
}

/// The work of a service, beside its users.
struct GraphWork: Sendable {
    let cause: CauseBox
    let task: Task<Void, Never>

    /// Cancels it and waits for its end.
    func end() async {
        cause.record(.supervisorStopping)
        task.cancel()
        await task.value
    }
}
