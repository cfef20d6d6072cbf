import Synchronization

/// Work in time that somebody else granted and may take back: before the process is frozen, or
/// the machine sleeps.
///
/// A run has three who may cancel it, and the first of them sets the run's own cause: `expire()`
/// (`.systemExpiring`), the end of the granted time (`.deadlineExpired`), and its caller. Expiry is
/// final: later runs are cancelled from their beginning. Whoever granted the time gets one answer
/// for each run: at the moment of expiry, without waiting for the work to unwind; otherwise when
/// the run has ended.
///
/// ```swift
/// let saving = ExpiringWork(grantSeconds: 25)
/// host.onExpiry { saving.expire() }
/// try await saving.run(answer: { host.send($0) }) { _ in try await store.save() }
/// ```
public final class ExpiringWork: Sendable {
    /// What whoever granted the time hears, once for each run.
    public enum Answer: Hashable, Sendable {
        /// The run has ended before its time was taken back.
        case done
        /// The time was taken back. The work is cancelled, and may still be unwinding.
        case expired
    }

    /// One run, for its work to look at.
    public struct Run: Sendable {
        fileprivate let box: CauseBox

        /// Why this run was cancelled, or `nil` while it is not. It can be read on any thread.
        public var cause: CancellationCause? { box.own }
    }

    /// The longest time that counts as a grant: an hour. What is longer is a way to say "no limit".
    public static let longestGrant = Duration.seconds(3_600)

    private final class Entry: Sendable {
        struct State {
            var child: ChildHandle?
            var isAnswered = false
        }
        let box: CauseBox
        let answer: @Sendable (Answer) -> Void
        let state = Mutex(State())

        init(_ box: CauseBox, _ answer: @escaping @Sendable (Answer) -> Void) {
            self.box = box
            self.answer = answer
        }

        /// Answers, unless that has been done.
        func give(_ answer: Answer) {
            let isFirst = state.withLock { state in
                defer { state.isAnswered = true }
                return !state.isAnswered
            }
            if isFirst { self.answer(answer) }
        }

        /// Cancels the run. The answer leaves first: a cancellation handler of the work may be
        /// slow, and the time is over.
        func expire() {
            box.record(.systemExpiring)
            give(.expired)
            state.withLock { $0.child }?.cancel()
        }
    }

    private struct State {
        var isExpired = false
        var nextRun: UInt64 = 0
        var runs: [UInt64: Entry] = [:]
    }

    /// The time that was granted, or `nil` if none was named that counts.
    public let grant: Duration?
    private let deadline: Deadline?
    private let context: Context
    private let state = Mutex(State())

    /// Time granted from now on.
    /// - Parameters:
    ///   - grantSeconds: How long. NaN, an infinite, a negative or a longer time than
    ///     `longestGrant` counts as no grant: then only `expire()` and the caller end the work.
    ///   - clock: Whose time counts; the ambient clock unless given.
    public init(grantSeconds: Double?, clock: (any Clock<Duration>)? = nil) {
        context = Context.current
        // Looked at as a number: the conversion of a huge one to a duration would trap.
        if let seconds = grantSeconds, seconds.isFinite, seconds >= 0,
            seconds <= Self.longestGrant / .seconds(1)
        {
            let grant = Duration.seconds(seconds)
            self.grant = grant
            deadline = .in(grant, clock: clock.map { AnyClock($0) })
        } else {
            grant = nil
            deadline = nil
            if let grantSeconds {
                emit(.expiringGrantIgnored, .debug, [.init("seconds", .number(grantSeconds))])
            }
        }
    }

    /// Whether the time was taken back. It stays so.
    public var isExpired: Bool { state.withLock { $0.isExpired } }

    /// Takes the time back: answers for every run under way and cancels it. Returns at once; may be
    /// called on any thread, and more than once.
    public func expire() {
        let runs: [Entry]? = state.withLock { state in
            guard !state.isExpired else { return nil }
            state.isExpired = true
            return state.runs.sorted { $0.key < $1.key }.map(\.value)
        }
        guard let runs else { return }
        for run in runs { run.expire() }
        emit(.expiringExpired, .notice, [.init("runs", runs.count)], in: context)
    }

    /// Runs `operation`, on the caller's actor, in what is left of the granted time.
    /// - Parameters:
    ///   - answer: Hears, exactly once, that the run is over; on any thread. It returns at once.
    ///   - operation: What runs in a child task of the caller, and what it can ask about its run.
    /// - Throws: What `operation` throws, also after its time.
    public nonisolated(nonsending) func run<R, E: Error>(
        answer: @escaping @Sendable (Answer) -> Void = { _ in },
        _ operation: nonisolated(nonsending) (Run) async throws(E) -> R
    ) async throws(E) -> R {
        var context = Context.current
        let entry = Entry(CauseBox(inside: context.cause), answer)
        context.cause = entry.box
        if Task.isCancelled { entry.box.recordCaller() }
        let id = enter(entry)
        defer { leave(id, entry) }
        return try await withContext(context) { () async throws(E) -> R in
            try await runCancellable(entry) { () async throws(E) -> R in
                guard let deadline else { return try await operation(Run(box: entry.box)) }
                return try await deadline.run(cause: entry.box) { () async throws(E) -> R in
                    try await operation(Run(box: entry.box))
                }.result.get()
            }
        }
    }

    private nonisolated(nonsending) func runCancellable<R, E: Error>(
        _ entry: Entry, _ work: nonisolated(nonsending) () async throws(E) -> R
    ) async throws(E) -> R {
        try await runChild(
            work,
            cancellation: CallerCancellation(alreadyCancelled: entry.box.own != nil) { child in
                entry.box.recordCaller()
                child.cancel()
            },
            suspended: { child in
                entry.state.withLock { $0.child = child }
                // Whoever cancelled before could not know the child.
                if entry.box.own != nil { child.cancel() }
            })
    }

    private func enter(_ entry: Entry) -> UInt64 {
        let (id, isExpired): (UInt64, Bool) = state.withLock { state in
            state.nextRun += 1
            state.runs[state.nextRun] = entry
            return (state.nextRun, state.isExpired)
        }
        if isExpired { entry.expire() }
        return id
    }

    private func leave(_ id: UInt64, _ entry: Entry) {
        _ = state.withLock { $0.runs.removeValue(forKey: id) }
        entry.give(.done)
    }
}

extension EventName {
    /// Granted time was taken back. Field: `runs`, how many were under way.
    public static let expiringExpired = EventName("expiring.expired")
    /// A grant that is no real time was taken as none. Field: `seconds`.
    public static let expiringGrantIgnored = EventName("expiring.grantIgnored")
}
