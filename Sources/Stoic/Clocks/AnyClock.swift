/// Any clock, without its type: deadlines and delays can be stored and compared whatever runs them.
///
/// Instants are durations since the clock was erased, or since the origin it names itself. Sums
/// saturate at a century, and a sleep that long ends only by cancellation.
///
/// ```swift
/// let clock = Ambient.current.clock
/// let begun = clock.now
/// try await clock.sleep(for: .milliseconds(10))
/// log("took \(begun.duration(to: clock.now))")
/// ```
public struct AnyClock: Clock {
    /// A moment on one clock.
    public struct Instant: InstantProtocol, Hashable, Sendable {
        /// Time since the clock's origin.
        public let sinceOrigin: Duration
        /// Which clock; moments of different clocks have no order.
        let clock: ObjectIdentifier

        /// The moment `duration` later, at most a century from the origin.
        public func advanced(by duration: Duration) -> Instant {
            Instant(sinceOrigin: sinceOrigin.saturatingSum(duration), clock: clock)
        }

        /// - Precondition: `other` is of the same clock.
        public func duration(to other: Instant) -> Duration {
            precondition(clock == other.clock, "two clocks have no common time")
            return other.sinceOrigin.saturatingDifference(sinceOrigin)
        }

        /// - Precondition: both are of the same clock.
        public static func < (left: Instant, right: Instant) -> Bool {
            precondition(left.clock == right.clock, "two clocks have no common time")
            return left.sinceOrigin < right.sinceOrigin
        }
    }

    private let source: any ClockSource

    /// Erases `clock`; its origin is now. A clock that is erased already stays the one it is.
    ///
    /// Erase a clock once and hand the result around: instants of two erasures of one clock have no
    /// common time.
    public init<C: Clock<Duration>>(_ clock: C) {
        source = (clock as? AnyClock)?.source ?? ErasedClock(clock)
    }

    init(source: any ClockSource) { self.source = source }

    /// Time that goes on while the machine sleeps (`ContinuousClock`).
    public static let continuous = AnyClock(ContinuousClock())

    /// Time the machine is awake (`SuspendingClock`).
    public static let suspending = AnyClock(SuspendingClock())

    /// Time in which this process could run: see `LivenessClock`.
    public static let liveness = AnyClock(source: LivenessClock(.suspending))

    /// The moment it is.
    public var now: Instant { instant(source.sinceOrigin) }
    /// The shortest time that the clock behind it can tell apart.
    public var minimumResolution: Duration { source.minimumResolution }

    /// Returns at `deadline`, or throws as soon as the task is cancelled. A deadline that has
    /// passed returns at once, without suspending; a century is for ever, until cancellation.
    /// - Throws: `CancellationError` only.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        precondition(deadline.clock == id, "a deadline of another clock")
        try Task.checkCancellation()
        if deadline.sinceOrigin >= .century {
            // No timer: virtual time would jump there when there is nothing else to do.
            await Parking<Void>().value(cancelled: (), at: Site("a sleep without end"))
            throw CancellationError()
        }
        while deadline.sinceOrigin > source.sinceOrigin {
            try await source.sleep(until: deadline.sinceOrigin, tolerance: tolerance)
        }
    }

    /// Returns after `duration`, which is clamped to a century.
    /// - Throws: `CancellationError` only.
    public func sleep(for duration: Duration) async throws {
        try await self.sleep(until: now.advanced(by: duration))
    }

    /// The moment `sinceOrigin` after the clock's origin.
    func instant(_ sinceOrigin: Duration) -> Instant {
        Instant(sinceOrigin: sinceOrigin.clamped, clock: id)
    }

    /// Whether the two are one clock, so that their instants have a common time.
    func isSame(as other: AnyClock) -> Bool { id == other.id }

    private var id: ObjectIdentifier { ObjectIdentifier(source) }
}

/// What an `AnyClock` asks of the clock behind it.
protocol ClockSource: AnyObject, Sendable {
    /// Time since the origin.
    var sinceOrigin: Duration { get }
    var minimumResolution: Duration { get }
    /// Returns at that time, or somewhat earlier: the caller looks again.
    func sleep(until sinceOrigin: Duration, tolerance: Duration?) async throws
}

private final class ErasedClock<C: Clock<Duration>>: ClockSource {
    private let clock: C
    private let origin: C.Instant

    init(_ clock: C) {
        self.clock = clock
        origin = clock.now
    }

    var sinceOrigin: Duration { origin.duration(to: clock.now) }
    var minimumResolution: Duration { clock.minimumResolution }

    func sleep(until sinceOrigin: Duration, tolerance: Duration?) async throws {
        try await clock.sleep(until: origin.advanced(by: sinceOrigin), tolerance: tolerance)
    }
}
