/// What one service's past means for its next launch. The rules see it only through the questions
/// below; everything that grows with time is in here and capped.
struct RestartLedger: Hashable, Sendable {
    /// Moments of restarts within the window, oldest first, in boot time. At most the policy's
    /// limit.
    private var restarts: [Duration] = []
    /// Restarts since it was last healthy: the step of its schedule.
    private(set) var step = 0
    /// Launches since it was last ready, or was last asked for.
    private(set) var attempts = 0

    /// A launch begins.
    mutating func noteLaunch() { attempts = min(attempts + 1, .max - 1) }

    /// It became ready.
    mutating func noteReady() { attempts = 0 }

    /// It was ready for long enough, or somebody asked for it by name: its delays start over.
    mutating func forgive() {
        step = 0
        attempts = 0
    }

    /// Somebody asked for it by name: its limit starts over too.
    mutating func reset() {
        forgive()
        restarts = []
    }

    /// Whether one more restart at `now` keeps to the policy's limit.
    func isWithinLimit(_ policy: RestartPolicy, at now: Duration) -> Bool {
        restartsLeft(policy, at: now) > 0
    }

    /// How many restarts at `now` would keep to the policy's limit.
    func restartsLeft(_ policy: RestartPolicy, at now: Duration) -> Int {
        max(policy.limitCount - restarts.count { now - $0 < policy.limitWindow }, 0)
    }

    /// Counts a restart and answers its delay.
    mutating func scheduleRestart(
        _ policy: RestartPolicy, at now: Duration, random: inout RandomSource
    ) -> Duration {
        restarts.removeAll { now - $0 >= policy.limitWindow }
        restarts.append(now)
        if restarts.count > policy.limitCount {
            restarts.removeFirst(restarts.count - policy.limitCount)
        }
        let delay = policy.backoff.delay(step: step, random: &random)
        step = min(step + 1, .max - 1)
        return delay
    }
}
