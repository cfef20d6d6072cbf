import Synchronization

/// The tasks of one call that runs work side by side: who runs, who has ended, and why the rest was
/// told to stop.
///
/// Who ends in a way that decides the call stops the others itself, from its own task: a caller
/// whose actor is busy delays nothing.
final class Siblings<R: Sendable, E: Error>: Sendable {
    /// A child that has ended.
    struct Ended: Sendable {
        let index: Int
        let result: Result<R, E>
        /// Whether it ended before anybody was told to stop, or was what stopped them.
        let isInTime: Bool
    }

    /// What a child that succeeded returned.
    struct Value: Sendable {
        let index: Int
        let value: R
    }

    fileprivate enum Child {
        /// Its task is `nil` only until the function that starts it returns.
        case running(Task<Void, Never>?)
        case abandoned(since: AnyClock.Instant)
    }

    fileprivate struct State {
        var children: [Int: Child] = [:]
        /// What the caller has not seen yet, in the order it came.
        var ended: [Ended] = []
        var isStopped = false
        var waiter: Parking<Void>?

        var running: [Int] { children.filter { $0.value.isRunning }.map(\.key).sorted() }
    }

    /// Why the children are cancelled.
    let cause: CauseBox
    private let label: String
    private let context: Context
    private let clock: AnyClock
    private let decide: @Sendable (Result<R, E>) -> CancellationCause?
    private let state = Mutex(State())
    /// Nothing runs any more that the caller waits for. Only after a stop.
    private let idle = Completion<Void>()

    /// - Parameters:
    ///   - label: What the call is named in events.
    ///   - clock: Whose time bounds the wait for those who were told to stop.
    ///   - decide: Why the others stop after this result; `nil` if they go on.
    init(
        _ label: String, clock: (any Clock<Duration>)?,
        decide: @escaping @Sendable (Result<R, E>) -> CancellationCause?
    ) {
        var context = Context.current
        cause = CauseBox(inside: context.cause)
        context.cause = cause
        self.context = context
        self.label = label
        self.clock = clock.map { AnyClock($0) } ?? context.ambient.clock
        self.decide = decide
    }

    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Starts a child; `false` if no more may start.
    func start(_ index: Int, _ body: @escaping @Sendable () async throws(E) -> R) -> Bool {
        let mayStart = state.withLock { state in
            guard !state.isStopped else { return false }
            state.children[index] = .running(nil)
            return true
        }
        guard mayStart else { return false }
        let task = spawn { [self] in
            await withContext(context) {
                let result: Result<R, E>
                do throws(E) {
                    result = .success(try await body())
                } catch {
                    result = .failure(error)
                }
                end(index, result)
            }
        }
        let isLate = state.withLock { state in
            guard case .running = state.children[index] else { return false }
            state.children[index] = .running(task)
            return state.isStopped
        }
        if isLate { task.cancel() }
        return true
    }

    /// The next child that has ended; `nil` once they are told to stop, or none runs. If the caller
    /// is cancelled, so are they.
    nonisolated(nonsending) func next() async -> Ended? {
        while true {
            let parking = Parking<Void>()
            let (ended, isOver): (Ended?, Bool) = state.withLock { state in
                if !state.ended.isEmpty { return (state.ended.removeFirst(), false) }
                if state.isStopped || state.children.isEmpty { return (nil, true) }
                state.waiter = parking
                return (nil, false)
            }
            if ended != nil || isOver { return ended }
            await withTaskCancellationHandler {
                await parking.value(at: Site("a child to end"), label)
            } onCancel: {
                stopForCaller()
            }
        }
    }

    /// What has ended and was not seen yet.
    func takeEnded() -> [Ended] {
        state.withLock { state in
            defer { state.ended = [] }
            return state.ended
        }
    }

    /// The caller is cancelled.
    func stopForCaller() {
        cause.recordCaller()
        stop()
    }

    /// Cancels those that run, whose cause has been recorded.
    private func stop() {
        let (tasks, waiter, isIdle) = state.withLock { state in
            state.isStopped = true
            defer { state.waiter = nil }
            return (state.tasks, state.waiter, state.running.isEmpty)
        }
        waiter?.settle(())
        if isIdle { idle.fulfil(()) }
        for task in tasks { task.cancel() }
    }

    private func end(_ index: Int, _ result: Result<R, E>) {
        if case .failure(let error) = result, Classifier.isDefect(error) {
            emit(
                .defectThrown, .error,
                [.init("in", label), .init("index", index), .init("error", describing: error)])
        }
        let reason = cause.own == nil ? decide(result) : nil
        let decides = reason.map { cause.record($0) } ?? false
        let isInTime = decides || cause.own == nil
        let (child, waiter, isIdle): (Child?, Parking<Void>?, Bool) = state.withLock { state in
            let child = state.children.removeValue(forKey: index)
            guard child?.isRunning == true else { return (child, nil, false) }
            state.ended.append(Ended(index: index, result: result, isInTime: isInTime))
            defer { state.waiter = nil }
            return (child, state.waiter, state.isStopped && state.running.isEmpty)
        }
        if decides { stop() }
        waiter?.settle(())
        if isIdle { idle.fulfil(()) }
        if case .abandoned(let since) = child { returned(index, result, since) }
    }
}

// MARK: those who do not stop

extension Siblings {
    /// Waits for those who were told to stop, at most `limit`, and leaves behind who has not ended
    /// then.
    nonisolated(nonsending) func settle(within limit: Duration) async {
        guard isStopped, idle.value == nil else { return }
        let deadline = Deadline.in(limit, clock: clock)
        // The caller may be cancelled itself, and this wait has its own bound.
        await shielded { _ = await idle.wait(for: Site("the others to end"), until: deadline) }
        for index in state.withLock({ $0.running }) {
            guard abandon(index, after: limit) else {
                emit(.deadlineAbandonmentSaturated, .error, [.init("label", label)])
                let site = Site("others that may not be left behind")
                await shielded { _ = await idle.wait(for: site) }
                return
            }
        }
    }

    /// Leaves a child behind, or finds that it has ended; `false` if too many are left behind.
    private func abandon(_ index: Int, after grace: Duration) -> Bool {
        guard AbandonedWork.begin(for: context.abandoned) else { return false }
        let now = clock.now
        let isAbandoned = state.withLock { state in
            guard state.children[index]?.isRunning == true else { return false }
            state.children[index] = .abandoned(since: now)
            return true
        }
        guard isAbandoned else {
            AbandonedWork.end(for: context.abandoned)
            return true
        }
        if state.withLock({ $0.running.isEmpty }) { idle.fulfil(()) }
        emit(
            .deadlineAbandoned, .warning,
            [.init("label", label), .init("index", index), .init("grace", grace.clamped)])
        return true
    }

    private func returned(_ index: Int, _ result: Result<R, E>, _ since: AnyClock.Instant) {
        AbandonedWork.end(for: context.abandoned)
        var fields: [Event.Field] = [
            .init("label", label), .init("index", index),
            .init("after", since.duration(to: clock.now)),
        ]
        if case .failure(let error) = result, !(error is CancellationError) {
            fields.append(.init("error", describing: error))
        }
        emit(.deadlineAbandonedReturned, .notice, fields)
    }
}

extension Siblings.Child {
    fileprivate var isRunning: Bool {
        switch self {
        case .running: true
        case .abandoned: false
        }
    }
}

extension Siblings.State {
    fileprivate var tasks: [Task<Void, Never>] {
        running.compactMap { index in
            guard case .running(let task) = children[index] else { return nil }
            return task
        }
    }
}
