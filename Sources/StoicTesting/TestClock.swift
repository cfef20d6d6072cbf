import Stoic
import Synchronization

/// A clock that only moves when it is told to, or when a simulation has nothing else to do.
///
/// It starts at zero. Sleepers are woken in the order of their deadlines, ties in the order they
/// came. Nothing about it is a race: a test waits for the arrival of sleepers, never for a while.
///
/// ```swift
/// try await simulate { world in
///     async let nap: Void = world.clock.sleep(for: .seconds(30))
///     await world.clock.sleepers(count: 1)             // it has begun to sleep
///     try await world.clock.advance(by: .seconds(30))  // it has woken, and parked again or ended
///     try await nap
/// }
/// ```
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

    fileprivate struct Watcher {
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    fileprivate struct State {
        var now = Duration.zero
        /// How much of that the machine was asleep.
        var asleep = Duration.zero
        var nextOrder: UInt64 = 0
        var sleepers: [Sleeper] = []
        /// Sleepers that were cancelled before they lay down.
        var cancelled: Set<UInt64> = []
        /// Who waits until there are so many sleepers.
        var watchers: [Watcher] = []
        /// Who waits until nothing can run; only in a simulation.
        var settling: [CheckedContinuation<Void, Never>] = []
        /// How many wait for arrivals or a standstill, or were told and have not gone on yet.
        var held = 0
        /// Until where `advance` lets time pass.
        var targets: [Duration] = []
        var isSimulated = false
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
                lieDown(
                    Sleeper(
                        deadline: deadline.sinceOrigin, order: order, continuation: continuation))
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

    private func lieDown(_ sleeper: Sleeper) {
        let (answer, arrived): (Bool?, [Watcher]) = state.withLock { state in
            if state.cancelled.remove(sleeper.order) != nil { return (false, []) }
            if sleeper.deadline <= state.now { return (true, []) }
            state.lieDown(sleeper)
            return (nil, state.takeWatchers())
        }
        if let answer { sleeper.continuation.resume(returning: answer) }
        for watcher in arrived { watcher.continuation.resume() }
    }

    /// Returns when at least so many tasks sleep on this clock. Meanwhile time stands still: a
    /// simulation in which they never arrive fails, and says who waits where.
    public func sleepers(count: Int) async {
        state.withLock { $0.held += 1 }
        defer { state.withLock { $0.held -= 1 } }
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                guard state.sleepers.count < count else { return true }
                state.watchers.append(Watcher(count: count, continuation: continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Lets `duration` pass. In a simulation everything that falls due on the way, its end
    /// included, has run, and has parked again or ended, before this returns. Anywhere else it
    /// wakes who is due, in order, and returns: what they do then is not known.
    /// - Throws: `CancellationError` only.
    public func advance(by duration: Duration) async throws {
        let target = now.advanced(by: duration)
        guard state.withLock({ $0.isSimulated }) else {
            while wakeNext(until: target.sinceOrigin) {}
            state.withLock { $0.now = max($0.now, target.sinceOrigin) }
            return
        }
        state.withLock { $0.targets.append(target.sinceOrigin) }
        defer { state.withLock { $0.forget(target: target.sinceOrigin) } }
        try await self.sleep(until: target)
        await settle()
    }

    /// Returns when everything that can run has run, has parked or has ended, without time passing.
    /// - Precondition: It is the clock of a simulation.
    func settle() async {
        state.withLock { $0.held += 1 }
        defer { state.withLock { $0.held -= 1 } }
        await withCheckedContinuation { continuation in
            state.withLock { state in
                precondition(state.isSimulated, "only a simulation knows when nothing can run")
                state.settling.append(continuation)
            }
        }
    }

    /// Moves on to the next sleeper's moment and wakes that sleeper, unless it is after `limit`.
    /// - Returns: Whether there was one.
    func wakeNext(until limit: Duration = .century) -> Bool {
        let sleeper: Sleeper? = state.withLock { state in
            guard let first = state.sleepers.first, first.deadline <= limit else { return nil }
            state.now = max(state.now, first.deadline)
            return state.sleepers.removeFirst()
        }
        sleeper?.continuation.resume(returning: true)
        return sleeper != nil
    }
}

// MARK: What a simulation does with it

extension TestClock {
    /// From now on a simulation moves it.
    func simulate() { state.withLock { $0.isSimulated = true } }

    /// How many wait for the arrival of sleepers: time stands still for them.
    var isAwaited: Bool { state.withLock { !$0.watchers.isEmpty } }

    /// Whether a timer may fire before work that is ready. Not where somebody looks at the time as
    /// it is, or is about to; nor the end of an `advance`, before which all else comes to rest.
    var mayFireEarly: Bool {
        state.withLock { state in
            guard state.held == 0, let next = state.sleepers.first else { return false }
            return state.targets.allSatisfy { next.deadline < $0 }
        }
    }

    /// Goes on with something where nothing can run: first who is due now, then who waited for that
    /// standstill, then, unless somebody waits for arrivals, who is next.
    /// - Returns: Whether there was anything.
    func goOn() -> Bool {
        if wakeNext(until: state.withLock { $0.now }) { return true }
        let settled = state.withLock { state in
            state.settling.isEmpty ? nil : state.settling.removeFirst()
        }
        if let settled {
            settled.resume()
            return true
        }
        return isAwaited ? false : wakeNext()
    }

    /// Lets those go on who wait for arrivals or a standstill, when a simulation has failed.
    func giveUp() {
        let (watchers, settling) = state.withLock { state in
            defer {
                state.watchers = []
                state.settling = []
            }
            return (state.watchers, state.settling)
        }
        for watcher in watchers { watcher.continuation.resume() }
        for waiter in settling { waiter.resume() }
    }

    /// The machine sleeps for `duration`: the time is over at once, and nobody was awake in it.
    func sleepMachine(for duration: Duration) {
        state.withLock { state in
            state.now = state.now.saturatingSum(duration)
            state.asleep = state.asleep.saturatingSum(duration)
        }
    }

    /// How much of the time the machine was asleep.
    fileprivate var asleep: Duration { state.withLock { $0.asleep } }
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

    fileprivate mutating func forget(target: Duration) {
        if let place = targets.firstIndex(of: target) { targets.remove(at: place) }
    }

    /// Those whose sleepers have arrived.
    fileprivate mutating func takeWatchers() -> [TestClock.Watcher] {
        let arrived = watchers.filter { $0.count <= sleepers.count }
        watchers.removeAll { $0.count <= sleepers.count }
        return arrived
    }
}

/// The time of a `TestClock` in which the machine was awake.
final class AwakeTestClock: Clock, Sendable {
    private let clock: TestClock

    init(_ clock: TestClock) { self.clock = clock }

    var now: TestClock.Instant {
        TestClock.Instant(sinceOrigin: clock.now.sinceOrigin.saturatingDifference(clock.asleep))
    }
    var minimumResolution: Duration { clock.minimumResolution }

    func sleep(until deadline: TestClock.Instant, tolerance: Duration? = nil) async throws {
        repeat {
            // The machine may sleep meanwhile: then this is woken too early, and sleeps on.
            let wait = deadline.sinceOrigin.saturatingSum(clock.asleep)
            try await clock.sleep(until: TestClock.Instant(sinceOrigin: wait), tolerance: tolerance)
        } while now < deadline
    }
}
