import Stoic
import Synchronization

/// A clock that only moves when it is told to, or when a simulation has nothing else to do.
///
/// It starts at zero. Sleepers are woken in the order of their deadlines, ties in the order they
/// came.
public final class TestClock: Clock, Sendable {
    /// Time since the clock was made.
    public struct Instant: InstantProtocol, Hashable, Sendable {
        /// Time since the clock was made.
        public let sinceOrigin: Duration

        /// The moment this much later, at most a century from the origin.
        public func advanced(by duration: Duration) -> Instant {
            Instant(sinceOrigin: sinceOrigin.saturatingSum(duration))
        }
        /// The time from this moment to the other.
        public func duration(to other: Instant) -> Duration {
            other.sinceOrigin.saturatingDifference(sinceOrigin)
        }
        public static func < (left: Instant, right: Instant) -> Bool {
            left.sinceOrigin < right.sinceOrigin
        }
    }

    fileprivate struct Sleeper {
        let deadline: Duration
        let order: UInt64
        let continuation: CheckedContinuation<Bool, Never>
    }

    fileprivate struct State {
        var now = Duration.zero
        var nextOrder: UInt64 = 0
        var sleepers: [Sleeper] = []
        /// Sleepers that were cancelled before they lay down.
        var cancelled: Set<UInt64> = []
    }

    private let state = Mutex(State())

    /// A clock at zero.
    public init() {}

    /// The moment it shows.
    public var now: Instant { Instant(sinceOrigin: state.withLock { $0.now }) }
    /// The shortest time it can tell apart.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// How many tasks sleep on it.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// When the next one is to be woken.
    public var nextScheduled: Instant? {
        state.withLock { $0.sleepers.first.map { Instant(sinceOrigin: $0.deadline) } }
    }

    /// Returns when the clock has come to `deadline`.
    /// - Throws: `CancellationError` only.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let order = state.withLock { state in
            state.nextOrder += 1
            return state.nextOrder
        }
        let woke = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if state.cancelled.remove(order) != nil { return false }
                    if deadline.sinceOrigin <= state.now { return true }
                    state.lieDown(
                        Sleeper(
                            deadline: deadline.sinceOrigin, order: order,
                            continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let sleeper: Sleeper? = state.withLock { state in
                guard let place = state.sleepers.firstIndex(where: { $0.order == order }) else {
                    state.cancelled.insert(order)
                    return nil
                }
                return state.sleepers.remove(at: place)
            }
            sleeper?.continuation.resume(returning: false)
        }
        _ = state.withLock { $0.cancelled.remove(order) }
        if !woke { throw CancellationError() }
    }

    /// Lets `duration` pass. In a simulation everything that falls due on the way runs, and parks
    /// again or ends, before this returns; whoever calls it comes last at its own moment.
    public func advance(by duration: Duration) async throws {
        let target = now.advanced(by: duration)
        try await self.sleep(until: target)
    }

    /// Moves on to the next sleeper's moment, at most to `limit`, and wakes that sleeper.
    /// - Returns: Whether there was one.
    func wakeNext() -> Bool {
        let sleeper: Sleeper? = state.withLock { state in
            guard !state.sleepers.isEmpty else { return nil }
            let sleeper = state.sleepers.removeFirst()
            state.now = max(state.now, sleeper.deadline)
            return sleeper
        }
        sleeper?.continuation.resume(returning: true)
        return sleeper != nil
    }
}

extension TestClock.State {
    /// Sorted by deadline, ties by arrival.
    fileprivate mutating func lieDown(_ sleeper: TestClock.Sleeper) {
        var low = 0
        var high = sleepers.count
        while low < high {
            let middle = (low + high) / 2
            if sleepers[middle].deadline <= sleeper.deadline {
                low = middle + 1
            } else {
                high = middle
            }
        }
        sleepers.insert(sleeper, at: low)
    }
}
