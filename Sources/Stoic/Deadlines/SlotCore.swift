import Synchronization

/// One piece of work of a slot.
final class SlotPiece<Value: Sendable>: Sendable {
    let work: @Sendable () async throws -> Value
    /// What those hear who wait for it: its own result, or that it was cancelled.
    let outcome = Completion<Result<Value, any Error>>()
    /// Its task has ended, or it never began.
    let ended = Completion<Void>()
    /// A slot's work has the slot for an owner, whatever owns whoever brought it.
    let cause = CauseBox(inside: nil)
    let abandonment: Abandonment
    let context: Context
    /// How many wait; `nil` if it runs for nobody. Guarded by the core's lock.
    let waiters: Mutex<Int?>
    /// Its task, once it has begun.
    let task = Mutex<Task<Void, Never>?>(nil)
    /// What leaves it behind, once it is cancelled and does not end.
    let watch = Mutex<Task<Void, Never>?>(nil)

    init(
        _ label: String, _ clock: AnyClock?, _ work: @escaping @Sendable () async throws -> Value,
        waiters: Int?
    ) {
        self.work = work
        self.waiters = Mutex(waiters)
        abandonment = Abandonment(label: label, clock: clock ?? Ambient.current.clock)
        var context = Context.current
        context.cause = cause
        context.ambient.deadline = nil
        context.path = ScopePath(label, inside: context.path)
        self.context = context
    }

    /// Tells whoever waits that it is over, and cancels its task.
    func cancel(_ cause: CancellationCause) {
        self.cause.record(cause)
        outcome.fulfil(.failure(CancellationError()))
        task.withLock { $0 }?.cancel()
    }

    /// It will not run.
    func drop(_ cause: CancellationCause) {
        cancel(cause)
        ended.fulfil(())
    }
}

/// What a slot is, without its owner: tasks hold this, so that a slot that nobody holds ends.
final class SlotCore<Value: Sendable>: Sendable {
    typealias Piece = SlotPiece<Value>

    private enum State {
        case idle
        case running(Piece)
        /// Cancelled; its end is awaited, and then the next begins.
        case ending(Piece, next: Piece?)
        /// As ending, and nothing comes after it.
        case closed(Piece?)
    }

    /// What is to be done after the lock.
    private enum Action {
        case begin(Piece)
        case replace(Piece)
        case supersede(Piece)
        case desert(Piece)
        case join
        case wait
        case refuse(Rejection)
    }

    let label: String
    let clock: AnyClock?
    private let bound: Duration
    private let state = Mutex(State.idle)

    init(_ label: String, bound: Duration, clock: AnyClock?) {
        self.label = label
        self.bound = bound
        self.clock = clock
    }

    var isTaken: Bool {
        state.withLock { state in
            switch state {
            case .idle, .closed(nil): false
            case .running, .ending, .closed: true
            }
        }
    }

    /// Brings `piece`; gives that whose outcome its caller is to wait for.
    func enter(_ policy: WorkSlot<Value>.Policy, _ piece: Piece) throws -> Piece {
        let (action, awaited) = state.withLock { Self.enter(policy, piece, &$0) }
        switch action {
        case .begin(let piece):
            begin(piece)
        case .replace(let old):
            emit(.slotReplaced, .info, [.init("label", label)])
            end(old, .replaced)
        case .supersede(let old):
            emit(.slotSuperseded, .info, [.init("label", label)])
            old.drop(.replaced)
        case .join:
            emit(.slotJoined, .debug, [.init("label", label)])
        case .refuse(let rejection):
            let reason = rejection == .shuttingDown ? "closed" : "taken"
            emit(.slotRefused, .notice, [.init("label", label), .init("reason", reason)])
            throw PolicyError<any Error>.rejected(rejection)
        case .desert, .wait:
            break
        }
        return awaited
    }

    /// The whole of the policies.
    private static func enter(
        _ policy: WorkSlot<Value>.Policy, _ piece: Piece, _ state: inout State
    ) -> (Action, awaited: Piece) {
        switch (state, policy) {
        case (.closed, _):
            return (.refuse(.shuttingDown), piece)
        case (.idle, _):
            state = .running(piece)
            return (.begin(piece), piece)
        case (.ending(let old, nil), _):
            state = .ending(old, next: piece)
            return (.wait, piece)
        case (.running(let old), .replace):
            state = .ending(old, next: piece)
            return (.replace(old), piece)
        case (.ending(let old, let next?), .replace):
            state = .ending(old, next: piece)
            return (.supersede(next), piece)
        case (.running, .keep), (.ending, .keep):
            return (.refuse(.bulkheadFull), piece)
        case (.running(let there), .join), (.ending(_, let there?), .join):
            let isAwaited = piece.waiters.withLock { $0 != nil }
            // Work that also runs for nobody is not deserted when those who wait leave.
            there.waiters.withLock { $0 = isAwaited ? $0.map { $0 + 1 } : nil }
            return (.join, there)
        }
    }

    /// One of those who wait for `piece` has its result, or leaves.
    func leave(_ piece: Piece) {
        let action: Action = state.withLock { state in
            let isLast = piece.waiters.withLock { waiters in
                waiters = waiters.map { $0 - 1 }
                return waiters == 0
            }
            guard isLast, piece.outcome.value == nil else { return .wait }
            switch state {
            case .running(let current) where current === piece:
                state = .ending(piece, next: nil)
                return .desert(piece)
            case .ending(let old, let next) where next === piece:
                state = .ending(old, next: nil)
                return .supersede(piece)
            case .idle, .running, .ending, .closed:
                return .wait
            }
        }
        switch action {
        case .desert(let piece):
            emit(.slotDeserted, .info, [.init("label", label)])
            end(piece, .requested)
        case .supersede(let piece):
            emit(.slotDeserted, .info, [.init("label", label)])
            piece.drop(.requested)
        case .begin, .replace, .join, .wait, .refuse:
            break
        }
    }

    func close() {
        let (current, next): (Piece?, Piece?) = state.withLock { state in
            switch state {
            case .idle:
                state = .closed(nil)
                return (nil, nil)
            case .running(let piece):
                state = .closed(piece)
                return (piece, nil)
            case .ending(let piece, let next):
                state = .closed(piece)
                return (piece, next)
            case .closed:
                return (nil, nil)
            }
        }
        guard let current else { return }
        emit(.slotClosed, .info, [.init("label", label)])
        next?.drop(.scopeClosed)
        // What is ending already has its watch, and its cause.
        if current.cause.own == nil { end(current, .scopeClosed) }
    }

    /// Waits for the end of what a closed slot still has; the bound is that of its ending.
    nonisolated(nonsending) func waitForEnd() async {
        let piece: Piece? = state.withLock { state in
            guard case .closed(let piece) = state else { return nil }
            return piece
        }
        guard let piece else { return }
        await shielded {
            await piece.watch.withLock { $0 }?.value
            _ = await piece.ended.wait(for: Site("the slot to be free"))
        }
    }
}

/// The life of a piece.
extension SlotCore {
    private func begin(_ piece: Piece) {
        guard piece.cause.own == nil else { return vacate(piece) }
        let task = spawn { [self] in
            await withContext(piece.context) {
                let result: Result<Value, any Error>
                do {
                    result = .success(try await piece.work())
                } catch {
                    result = .failure(error)
                }
                finish(piece, result)
            }
        }
        piece.task.withLock { $0 = task }
        // Whoever cancelled before could not know the task.
        if piece.cause.own != nil { task.cancel() }
    }

    private func finish(_ piece: Piece, _ result: Result<Value, any Error>) {
        var failure: (any Error)?
        if case .failure(let error) = result { failure = error }
        let isReported = piece.abandonment.end(throwing: failure)
        let isAwaited = piece.waiters.withLock { $0 != nil }
        let isHeard = piece.outcome.fulfil(result) && isAwaited
        if !isHeard, !isReported, let failure, !(failure is CancellationError) {
            let fields: [Event.Field] = [
                .init("label", label), .init("error", describing: failure),
            ]
            emit(.slotFailed, .warning, fields)
        }
        vacate(piece)
    }

    /// Cancels `piece` and sees to it that it leaves the slot within the bound.
    private func end(_ piece: Piece, _ cause: CancellationCause) {
        piece.cancel(cause)
        let watch = spawn { [self] in
            let end = Deadline.in(bound, clock: clock)
            await piece.ended.wait(for: Site("the end of a piece"), until: end)
            guard piece.ended.value == nil else { return }
            switch piece.abandonment.leaveBehind(after: bound) {
            case .abandoned: vacate(piece)
            case .ended, .saturated: break
            }
        }
        piece.watch.withLock { $0 = watch }
    }

    /// `piece` has ended or was left behind: what waits for its place begins.
    private func vacate(_ piece: Piece) {
        let next: Piece? = state.withLock { state in
            switch state {
            case .running(let current) where current === piece:
                state = .idle
                return nil
            case .ending(let current, let next) where current === piece:
                state = next.map { .running($0) } ?? .idle
                return next
            case .closed(let current?) where current === piece:
                state = .closed(nil)
                return nil
            case .idle, .running, .ending, .closed:
                return nil
            }
        }
        piece.ended.fulfil(())
        if let next { begin(next) }
    }
}
