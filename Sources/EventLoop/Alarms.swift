import Glibc

/// Any number of alarms on one clock: one heap, one kernel timer, and no wakeup while none is due.
///
/// An alarm never fires early. It keeps the loop running while it is open, armed or not. Dropped
/// without `close()`, it closes itself.
public final class Alarms<ID: Hashable> {
    /// Which clock the alarms wait on.
    public enum Clock: Hashable, Sendable {
        /// Time the machine was awake (`CLOCK_MONOTONIC`).
        case awake
        /// Time since boot (`CLOCK_BOOTTIME`): an alarm that fell due while the machine slept fires
        /// when it wakes.
        case boot
    }

    private enum State {
        case open(AlarmCore<ID>, Watch)
        case closed
    }

    private var state: State

    /// No alarm is armed yet.
    ///
    /// - Parameter react: runs on the loop's thread, once for each alarm that is due, in the order
    ///   of their deadlines; those with the same one in the order they were armed. The alarm is
    ///   disarmed by then, and `react` may arm it again, or call anything else here.
    /// - Throws: `EMFILE` or `ENFILE` when no descriptor is left for the timer.
    public init(_ loop: Loop, clock: Clock, _ react: @escaping (ID) -> Void) throws(UVError) {
        let core = try AlarmCore(loop, clock: clock.kernelClock, react)
        let watch = try Watch(loop, descriptor: core.descriptor, interest: .readable) { _ in
            core.fire()
        }
        state = .open(core, watch)
    }

    /// How many alarms are armed. After `close()`: zero.
    public var count: Int {
        switch state {
        case .open(let core, _): core.count
        case .closed: 0
        }
    }

    /// Has `id` fire once, `duration` from now, instead of when it was to fire before.
    ///
    /// Nothing and less than nothing fire in the next turn, not now; more than a century is a
    /// century. After `close()`: nothing.
    /// - Complexity: O(log n). The kernel's timer is set once, at the end of the turn.
    public func arm(_ id: ID, after duration: Duration) {
        guard case .open(let core, _) = state else { return }
        core.arm(id, after: duration)
    }

    /// Has `id` not fire, even if it is due in this turn. Not armed: nothing.
    /// - Complexity: O(log n). The kernel's timer is set once, at the end of the turn.
    public func disarm(_ id: ID) {
        guard case .open(let core, _) = state else { return }
        core.disarm(id)
    }

    /// Disarms all; `react` never runs afterwards, even for what is due in this turn. Idempotent.
    public func close() {
        guard case .open(let core, let watch) = state else { return }
        state = .closed
        // The watch last: it may be all that holds the loop.
        core.close()
        watch.close()
    }

    deinit { close() }
}

extension Alarms.Clock {
    fileprivate var kernelClock: clockid_t {
        switch self {
        case .awake: CLOCK_MONOTONIC
        case .boot: CLOCK_BOOTTIME
        }
    }
}

/// The heap and its timer, apart from the watch, so that the watch's closure can hold them.
private final class AlarmCore<ID: Hashable>: Settling {
    /// The watch holds it.
    private unowned let loop: Loop
    private let clock: clockid_t
    private let react: (ID) -> Void
    private var heap = AlarmHeap<ID>()
    private var timer: TimerDescriptor
    private var isClosed = false
    private var isUnsettled = false

    init(_ loop: Loop, clock: clockid_t, _ react: @escaping (ID) -> Void) throws(UVError) {
        self.loop = loop
        self.clock = clock
        self.react = react
        timer = try TimerDescriptor(clock: clock)
    }

    var descriptor: CInt { timer.descriptor.number }
    var count: Int { heap.count }

    func arm(_ id: ID, after duration: Duration) {
        heap.insert(id, deadline: nanoseconds(of: clock) + duration.waitInNanoseconds)
        settleLater()
    }

    func disarm(_ id: ID) {
        if heap.remove(id) { settleLater() }
    }

    func close() {
        isClosed = true
        if isUnsettled { loop.leaveUnsettled(self) }
    }

    /// Fires what is due now; what `react` arms in the meantime waits for the next turn.
    func fire() {
        timer.acknowledge()
        let now = nanoseconds(of: clock)
        let end = AlarmHeap<ID>.Due(deadline: now, order: heap.nextOrder)
        while !isClosed, let due = heap.earliest, due < end, let id = heap.popEarliest() {
            react(id)
        }
        settleLater()
    }

    /// One turn arms and disarms many; the kernel is told once.
    private func settleLater() {
        guard !isUnsettled, !isClosed else { return }
        isUnsettled = true
        loop.settleAtTurnEnd(self)
    }

    func settle() {
        isUnsettled = false
        guard !isClosed else { return }
        timer.set(to: heap.earliest?.deadline)
    }
}
