import Synchronization

/// What a supervisor holds. One task works through its mailbox, so that it sees one end of a child
/// at a time.
final class SupervisorCore: Sendable {
    enum Message: Sendable {
        case ended(child: Int, run: UInt64, Result<Void, any Error>)
        case added(Int)
        case close
    }

    /// One child, and where it is.
    struct Child: Sendable {
        enum Phase: Sendable {
            /// It was added, and starts when the supervisor comes to it.
            case added
            case running(Run)
            /// It runs again at that moment.
            case backingOff(AnyClock.Instant)
            /// It does not run, and nothing will start it.
            case over
        }

        let spec: ChildSpec
        var phase = Phase.added
        /// Restarts since it was last stable.
        var step = 0
    }

    /// One run of a child.
    struct Run: Sendable {
        let number: UInt64
        let began: AnyClock.Instant
        let cause: CauseBox
        let task: Task<Void, Never>
        let ended: Completion<Void>
    }

    struct State {
        var children: [Child] = []
        var runs: UInt64 = 0
        var history: [SupervisorError.Failure] = []
        var isClosing = false
        var failure: SupervisorError?
        var random: RandomSource
    }

    let rules: Supervision
    let clocks: CallClocks
    let context: Context
    let cause: CauseBox
    /// The body of `withSupervisor`.
    let body: OwnedBody
    let mailbox = Mailbox<Message>()
    /// No child runs any more, or will.
    let idle = Completion<Void>()
    let state: Mutex<State>

    init(_ label: String, _ rules: Supervision, clock: (any Clock<Duration>)?) {
        self.rules = rules
        var context = Context.current
        clocks = CallClocks(given: clock, in: context.ambient)
        cause = CauseBox(inside: context.cause)
        body = OwnedBody(cause)
        context.cause = cause
        context.abandoned = AbandonedWork(inside: context.abandoned)
        context.path = ScopePath(label, inside: context.path)
        self.context = context
        state = Mutex(State(random: context.ambient.random.stream()))
    }

    var clock: AnyClock { clocks.clock }

    /// Declares a child; it starts as soon as the supervisor comes to it.
    func add(_ spec: ChildSpec) throws(SupervisorError) {
        let index: Int? = state.withLock { state in
            guard !state.isClosing else { return nil }
            state.children.append(Child(spec: spec))
            return state.children.count - 1
        }
        guard let index else { throw .shuttingDown }
        mailbox.send(.added(index))
    }

    /// Starts one run of a child.
    func start(_ index: Int) {
        let ended = Completion<Void>()
        state.withLock { state in
            state.runs += 1
            let number = state.runs
            let child = state.children[index]
            let runCause = CauseBox(inside: cause)
            var inside = context
            inside.cause = runCause
            inside.path = ScopePath(child.spec.label, inside: context.path)
            let task = spawn { [self, inside] in
                await withContext(inside) {
                    let result: Result<Void, any Error>
                    do {
                        result = .success(try await child.spec.work())
                    } catch {
                        result = .failure(error)
                    }
                    ended.fulfil(())
                    mailbox.send(.ended(child: index, run: number, result))
                }
            }
            state.children[index].phase = .running(
                Run(
                    number: number, began: clock.now, cause: runCause, task: task, ended: ended))
        }
        emit(.supervisorChildStarted, .info, [field(index)], in: context)
    }

    func field(_ index: Int) -> Event.Field {
        .init("child", state.withLock { $0.children[index].spec.label })
    }
}

extension EventName {
    /// A child runs. Field: `child`.
    public static let supervisorChildStarted = EventName("supervisor.childStarted")
    /// A child threw. Fields: `child`, `error`.
    public static let supervisorChildFailed = EventName("supervisor.childFailed")
    /// A child has ended without a failure, or was stopped. Field: `child`.
    public static let supervisorChildStopped = EventName("supervisor.childStopped")
    /// A child, and those that go along, run again after a delay. Fields: `child`, `after`.
    public static let supervisorRestartScheduled = EventName("supervisor.restartScheduled")
    /// A child runs again. Field: `child`.
    public static let supervisorRestarted = EventName("supervisor.restarted")
    /// Children failed more often than is allowed. Fields: `child`, `restarts`.
    public static let supervisorIntensityExceeded = EventName("supervisor.intensityExceeded")
    /// A supervisor ends with a failure. Field: `why`.
    public static let supervisorEscalated = EventName("supervisor.escalated")
}
