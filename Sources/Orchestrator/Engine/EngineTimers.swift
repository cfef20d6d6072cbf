package import EventLoop
package import Stoic

/// The brain's timers, on the clock each of them names.
package final class EngineTimers {
    /// A timer that ran out.
    package struct Fired {
        package let timer: TimerID
        /// How long after its moment we noticed: more than a scheduling delay means that we
        /// ourselves stood still.
        package let lateness: Duration
    }

    /// Lateness up to this is the ordinary delay of a busy machine.
    package static let ordinaryLateness = Duration.milliseconds(250)

    /// What a service has left at least after we stood still: time for one more probe, the answer
    /// to which we would have had in the meantime.
    static let settling = Duration.seconds(1)

    private struct Armed {
        let clock: ClockKind
        let deadline: Duration
    }

    private let loop: Loop
    private var awake: Alarms<TimerID>?
    private var boot: Alarms<TimerID>?
    private var armed: [TimerID: Armed] = [:]
    private let onFire: (Fired) -> Void

    /// - Parameter onFire: hears of each timer that ran out, in the order of their moments.
    package init(_ loop: Loop, onFire: @escaping (Fired) -> Void) throws(UVError) {
        self.loop = loop
        self.onFire = onFire
        awake = try Alarms(loop, clock: .awake) { [weak self] in self?.fired($0) }
        boot = try Alarms(loop, clock: .boot) { [weak self] in self?.fired($0) }
    }

    package func arm(_ timer: TimerID, after wait: Duration, on clock: ClockKind) {
        let deadline = reading(clock).saturatingSum(wait)
        armed[timer] = Armed(clock: clock, deadline: deadline)
        alarms(clock)?.arm(timer, after: wait)
    }

    package func disarm(_ timer: TimerID) {
        guard let old = armed.removeValue(forKey: timer) else { return }
        alarms(old.clock)?.disarm(timer)
    }

    /// Puts a timer off, one that just ran out included.
    package func postpone(_ timer: TimerID, by pause: Duration, fired: Fired?) {
        let now = reading(timer.clock)
        let deadline: Duration
        if let old = armed[timer] {
            deadline = old.deadline
        } else if let fired {
            deadline = now - fired.lateness
        } else {
            return
        }
        let wait = deadline.saturatingSum(pause) - now
        arm(timer, after: max(wait, timer.judgesLife ? Self.settling : .zero), on: timer.clock)
    }

    /// How long until the timer runs out, if it is armed.
    func remaining(_ timer: TimerID) -> Duration? {
        armed[timer].map { max($0.deadline - reading($0.clock), .zero) }
    }

    package func close() {
        awake?.close()
        boot?.close()
        armed = [:]
    }

    private func fired(_ timer: TimerID) {
        guard let old = armed.removeValue(forKey: timer) else { return }
        onFire(Fired(timer: timer, lateness: reading(old.clock) - old.deadline))
    }

    private func reading(_ clock: ClockKind) -> Duration {
        let now = loop.now
        return switch clock {
        case .awake: now.awake
        case .boot: now.boot
        }
    }

    private func alarms(_ clock: ClockKind) -> Alarms<TimerID>? {
        switch clock {
        case .awake: awake
        case .boot: boot
        }
    }
}

extension TimerID {
    /// Whether what it judges is only known to us by looking: a start, a sign of life.
    fileprivate var judgesLife: Bool {
        switch self {
        case .start, .watchdog: true
        case .rung, .kill, .abandon, .exitBudget, .backoff, .healthy: false
        }
    }
}
