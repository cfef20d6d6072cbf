/// A moment on a clock at which work shall have ended.
///
/// ```swift
/// let deadline = Deadline.in(.seconds(30))
/// try await withDeadline(deadline) {
///     try await store.refresh()
///     if deadline.remaining > .seconds(5) { try await store.save() }
/// }
/// ```
public struct Deadline: Sendable {
    /// Whose time counts.
    public let clock: AnyClock
    /// When it passes.
    public let instant: AnyClock.Instant
    /// How long it was when it was made; for messages.
    let limit: Duration

    /// The moment in `duration` from now, on the ambient clock unless another is given. Clamped to
    /// a century; a duration that is not positive gives a deadline that has passed.
    public static func `in`(_ duration: Duration, clock: AnyClock? = nil) -> Deadline {
        let clock = clock ?? Ambient.current.clock
        return Deadline(
            clock: clock, instant: clock.now.advanced(by: duration), limit: duration.clamped)
    }

    /// The earliest deadline around the current work, if there is any; where the clocks of two
    /// differ, which have no common time, the inner one. A shield has none.
    public static var current: Deadline? { Ambient.current.deadline }

    /// The time left; negative once it has passed.
    public var remaining: Duration { clock.now.duration(to: instant) }

    /// Whether no time is left.
    public var hasPassed: Bool { remaining <= .zero }
}

extension Deadline {
    /// Sleeps until it passes; `false` if the task was cancelled first.
    nonisolated(nonsending) func sleep() async -> Bool {
        do {
            try await clock.sleep(until: instant)
            return true
        } catch {
            return false
        }
    }

    /// The earlier of two, where their clocks can be compared; else this one.
    func earlier(than other: Deadline?) -> Deadline {
        guard let other, other.clock.isSame(as: clock), other.instant < instant else { return self }
        return other
    }
}
