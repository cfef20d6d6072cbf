import Synchronization

/// A clock that stands still while this process could not run.
///
/// `SuspendingClock` leaves out the sleep of the machine, but not a stopped process (SIGSTOP), a
/// frozen container, a paused virtual machine, or a pool of threads that is blocked. While somebody
/// sleeps on this clock a task looks at the time once in `interval`. If it looks later than it
/// should by more than `tolerance`, the time between was stolen: the clock leaves it out, so that
/// whoever was about to be called hung gets that time back, and `liveness.paused` is reported.
final class LivenessClock: ClockSource {
    /// How often it looks while somebody sleeps.
    private static let interval = Duration.milliseconds(250)
    /// How late a look may be before the time counts as stolen.
    private static let tolerance = Duration.milliseconds(250)

    private struct State {
        /// Time left out so far.
        var stolen = Duration.zero
        var sleepers = 0
        /// When the next look is due; `nil` while nobody sleeps.
        var nextLook: Duration?
    }

    private let base: AnyClock
    private let origin: AnyClock.Instant
    private let state = Mutex(State())

    init(_ base: AnyClock) {
        self.base = base
        origin = base.now
    }

    private var elapsed: Duration { origin.duration(to: base.now) }

    var sinceOrigin: Duration {
        look()
        return elapsed.saturatingDifference(state.withLock { $0.stolen })
    }

    var minimumResolution: Duration { base.minimumResolution }

    func sleep(until sinceOrigin: Duration, tolerance: Duration?) async throws {
        let now = elapsed
        state.withLock { state in
            if state.sleepers == 0 { state.nextLook = now.saturatingSum(Self.interval) }
            state.sleepers += 1
        }
        defer {
            state.withLock { state in
                state.sleepers -= 1
                if state.sleepers == 0 { state.nextLook = nil }
            }
        }
        // Everybody who sleeps looks: nobody has to own a task that does. What is left to sleep is
        // cut into steps of one interval; all sleepers of a process share what any of them sees.
        while self.sinceOrigin < sinceOrigin {
            let left = sinceOrigin.saturatingDifference(self.sinceOrigin)
            try await base.sleep(for: min(left, Self.interval))
        }
    }

    /// Compares the time with when it should have been looked at.
    private func look() {
        let now = elapsed
        let stolen: Duration? = state.withLock { state in
            guard let due = state.nextLook else { return nil }
            let late = now.saturatingDifference(due)
            guard late >= .zero else { return nil }
            state.nextLook = now.saturatingSum(Self.interval)
            guard late > Self.tolerance else { return nil }
            state.stolen = state.stolen.saturatingSum(late)
            return late
        }
        guard let stolen else { return }
        emit(.livenessPaused, .notice, [.init("for", stolen)])
    }
}
