import EventLoop

/// Closures that run later, on one timer of the kernel for all of them. For short-lived waits of
/// the host, which have no name a rule could know; timers of the brain are `Alarms<TimerID>`.
///
/// Used on the loop's thread only.
final class TimerTable {
    /// A wait that can be cancelled.
    struct Token: Hashable {
        fileprivate let number: UInt64
    }

    private var bodies: [UInt64: () -> Void] = [:]
    private var last: UInt64 = 0
    private var alarms: Alarms<UInt64>?

    /// A table on the awake clock.
    init(_ loop: Loop) throws(UVError) {
        alarms = try Alarms<UInt64>(loop, clock: .awake) { [weak self] number in
            self?.bodies.removeValue(forKey: number)?()
        }
    }

    /// How many waits are pending.
    var count: Int { bodies.count }

    /// Runs `body` once, `duration` from now, never before this returned.
    func after(_ duration: Duration, _ body: @escaping () -> Void) -> Token {
        last += 1
        bodies[last] = body
        alarms?.arm(last, after: duration)
        return Token(number: last)
    }

    /// Forgets a wait. One that ran, or was cancelled before, is no mistake.
    func cancel(_ token: Token?) {
        guard let token, bodies.removeValue(forKey: token.number) != nil else { return }
        alarms?.disarm(token.number)
    }

    /// Forgets every wait. Nothing runs afterwards.
    func close() {
        bodies = [:]
        alarms?.close()
        alarms = nil
    }
}
