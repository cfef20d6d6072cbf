import Synchronization

/// Why work was cancelled. Swift's `CancellationError` does not say; `Cancellation.cause` does.
///
/// ```swift
/// do {
///     try await store.refresh()
/// } catch is CancellationError {
///     if Cancellation.cause == .deadlineExpired { log("out of time") }
///     throw CancellationError()
/// }
/// ```
public enum CancellationCause: Hashable, Sendable {
    /// Somebody cancelled the task, and nothing else is known.
    case requested
    /// A deadline around the work passed.
    case deadlineExpired
    /// The scope that owns the work closes.
    case scopeClosed
    /// Work beside it failed.
    case siblingFailed
    /// Work beside it was first, and one result is enough.
    case siblingWon
    /// The supervisor of the work stops it.
    case supervisorStopping
    /// The service graph stops.
    case graphStopping
    /// The system takes back the time it granted.
    case systemExpiring
    /// Newer work took its place.
    case replaced
    /// The process was asked to end by this signal.
    case signal(Int32)
}

extension CancellationCause: CustomStringConvertible {
    /// The cause in a few words, for messages.
    public var description: String {
        switch self {
        case .requested: "requested"
        case .deadlineExpired: "deadline expired"
        case .scopeClosed: "its scope closed"
        case .siblingFailed: "work beside it failed"
        case .siblingWon: "work beside it was first"
        case .supervisorStopping: "its supervisor stops"
        case .graphStopping: "its service graph stops"
        case .systemExpiring: "the granted time is over"
        case .replaced: "replaced by newer work"
        case .signal(let number): "signal \(number)"
        }
    }
}

/// What the current task can know about its own cancellation.
public enum Cancellation {
    /// Why the current task is cancelled, or `nil` while it is not.
    ///
    /// The cause is that of the innermost owner (deadline, scope, supervisor, …) that cancelled
    /// it; a task that was cancelled by hand has the cause `.requested`.
    public static var cause: CancellationCause? {
        guard Task.isCancelled else { return nil }
        return Context.current.cause?.recorded ?? .requested
    }

    /// Waits until the current task is cancelled, and says why: the body of a program that runs
    /// until it is asked to end.
    ///
    /// ```swift
    /// try await graph.run { services in
    ///     let cause = await Cancellation.wait()
    ///     log("ending: \(cause)")
    /// }
    /// ```
    /// Bounded by whoever owns the task: a signal, a stop of the graph, a deadline around it.
    /// Returns at once in a task that is cancelled already, and never for any other reason.
    @discardableResult
    public nonisolated(nonsending) static func wait() async -> CancellationCause {
        await Parking<Void>().value(cancelled: (), at: Site("a cancellation"))
        return Context.current.cause?.recorded ?? .requested
    }
}

/// Remembers why one owner cancelled its work. The first cause stays.
///
/// Recorded *before* the work is cancelled, so that whoever sees the cancellation sees its cause.
final class CauseBox: Sendable {
    private let first = Mutex<CancellationCause?>(nil)
    /// The box of the owner around this one.
    private let outer: CauseBox?

    init(inside outer: CauseBox?) { self.outer = outer }

    /// Records `cause` unless there is one; says whether it was the first.
    @discardableResult
    func record(_ cause: CancellationCause) -> Bool {
        first.withLock { first in
            guard first == nil else { return false }
            first = cause
            return true
        }
    }

    /// Records why the caller of this owner is cancelled.
    func recordCaller() { record(outer?.recorded ?? .requested) }

    /// The cause of this owner itself, whatever the owners around it did.
    var own: CancellationCause? { first.withLock { $0 } }

    /// The innermost cause there is.
    var recorded: CancellationCause? {
        var next: CauseBox? = self
        while let box = next {
            if let cause = box.own { return cause }
            next = box.outer
        }
        return nil
    }
}
