import EventLoop
import Testing

/// The run of a test's loop went on for longer than any machine needs.
struct RunTookTooLong: Error {}

extension Loop {
    /// Runs until `stop()`, and fails after `limit`.
    ///
    /// Not for what ends because nothing is left: the limit itself is an open handle.
    func run(atMost limit: Duration) throws {
        var isLate = false
        let guardian = try Alarms<Int>(self, clock: .awake) { _ in
            isLate = true
            self.stop()
        }
        guardian.arm(0, after: limit)
        try run()
        guardian.close()
        guard !isLate else { throw RunTookTooLong() }
    }

    /// Runs until the callbacks of what is ready now have run, at least one turn.
    func runWhatIsReady() throws {
        let last = try Alarms<Int>(self, clock: .awake) { _ in self.stop() }
        last.arm(0, after: .zero)
        try run()
        last.close()
    }
}

/// Something whose end can be seen.
final class Token {}
