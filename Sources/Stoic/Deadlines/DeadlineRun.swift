/// How work under a deadline ended.
struct DeadlineOutcome<Success, Failure: Error> {
    /// The work's own value or error, also after the deadline.
    let result: Result<Success, Failure>
    /// Whether this deadline, and nobody before it, cancelled the work.
    let isCut: Bool
}

extension Deadline {
    /// Work that takes longer than this to end, once it is told to, is reported.
    static let overrunTolerance = Duration.milliseconds(100)

    /// Runs `operation` in a child task on the caller's actor, cancels it when this deadline
    /// passes, and waits for its end.
    ///
    /// Work that never suspends costs one child task and no timer: the timer begins when the work
    /// first suspends, off the caller's actor, so that it fires although that actor is blocked.
    ///
    /// - Parameter cause: The box of an owner that may cancel the work too; the first cause is that
    ///   of both. Without one the deadline is an owner of its own.
    nonisolated(nonsending) func run<R, E: Error>(
        cause: CauseBox? = nil, _ operation: nonisolated(nonsending) () async throws(E) -> R
    ) async -> DeadlineOutcome<R, E> {
        var context = Context.current
        let cause = cause ?? CauseBox(inside: context.cause)
        context.cause = cause
        context.ambient.deadline = earlier(than: context.ambient.deadline)
        let begin = clock.now
        // When this deadline cancelled the work, if it did.
        var cut: AnyClock.Instant?
        if Task.isCancelled {
            cause.recordCaller()
        } else if instant <= begin, cause.record(.deadlineExpired) {
            cut = begin
            reportExpired()
        }
        let mayBegin = cause.own == nil
        var timer: Task<AnyClock.Instant?, Never>?
        let result: Result<R, E>
        do throws(E) {
            let value = try await withContext(context) { () async throws(E) -> R in
                try await runChild(
                    operation,
                    cancellation: CallerCancellation(alreadyCancelled: !mayBegin) { child in
                        cause.recordCaller()
                        child.cancel()
                    },
                    suspended: { child in
                        guard mayBegin else { return }
                        timer = startTimer(child, cause)
                    })
            }
            result = .success(value)
        } catch {
            result = .failure(error)
        }
        if let timer {
            timer.cancel()
            cut = await timer.value
        }
        if let cut {
            reportLateness(of: result, told: cut)
        } else if cause.own == nil, clock.now > instant {
            // It kept its thread over the deadline: nobody could cancel it.
            reportLateness(of: result, told: instant)
        }
        return DeadlineOutcome(result: result, isCut: cut != nil)
    }

    /// Says when it cancelled the work, or `nil` if somebody else was first.
    private func startTimer(
        _ child: ChildHandle, _ cause: CauseBox
    ) -> Task<AnyClock.Instant?, Never> {
        spawn {
            guard await self.sleep(), cause.record(.deadlineExpired) else { return nil }
            child.cancel()
            let now = clock.now
            reportExpired()
            return now
        }
    }

    /// Tells that work was cancelled by this deadline.
    func reportExpired() { emit(.deadlineExpired, .notice, [.init("limit", limit)]) }

    /// Tells of work that ended after this deadline.
    /// - Parameter told: When it was told to end.
    func reportLateness<R, E: Error>(of result: Result<R, E>, told: AnyClock.Instant) {
        let overrun = told.duration(to: clock.now)
        if overrun > Self.overrunTolerance {
            emit(.deadlineOverrun, .warning, [.init("by", overrun), .init("limit", limit)])
        }
        guard case .success = result else { return }
        let late = instant.duration(to: clock.now)
        emit(.deadlineMetLate, .info, [.init("by", late), .init("limit", limit)])
    }
}

extension EventName {
    /// A deadline passed and its work was cancelled. Field: `limit`.
    public static let deadlineExpired = EventName("deadline.expired")
    /// Work returned a value after its deadline. Fields: `by`, `limit`.
    public static let deadlineMetLate = EventName("deadline.metLate")
    /// Work ended later than 100 ms after it was told to. Fields: `by`, `limit`.
    public static let deadlineOverrun = EventName("deadline.overrun")
}
