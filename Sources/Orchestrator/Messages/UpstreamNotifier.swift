import CLifecycle
import EventLoop
import Glibc

/// Speaks for the whole project to a manager that started *us* with `NOTIFY_SOCKET`, as of
/// sd_notify(3).
///
/// Taking the variables over also removes them from our environment, so that no service can say
/// "stopping" in our name (and `LISTEN_*`, which are meant for our pid only). Sending never waits,
/// except READY and STOPPING for at most `edgeWait`: a manager that does not read loses messages,
/// not us our loop.
final class UpstreamNotifier {
    /// The longest wait of READY and STOPPING for room, in milliseconds: they are said once, and a
    /// manager that misses them is wrong about us for good.
    static let edgeWait: Int32 = 100

    /// Where the manager listens; `nil` where there is none.
    let address: String?
    /// How often the manager wants a sign of life; `nil` where it does not.
    let watchdogInterval: Duration?
    private var alarms: Alarms<Int>?
    private var wasReady = false

    /// Takes the variables over. Call it once, before other threads are started: it changes the
    /// environment.
    init() {
        let text = Self.take("NOTIFY_SOCKET")
        let interval = Self.take("WATCHDOG_USEC")
        let process = Self.take("WATCHDOG_PID")
        for name in ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "LISTEN_PIDFDID", "FDSTORE"] {
            _ = Self.take(name)
        }
        let address = text.flatMap { $0.first == "/" || $0.first == "@" ? $0 : nil }
        self.address = address
        let isOurs = process.map { Int32($0) == getpid() } ?? true
        let microseconds = interval.flatMap { UInt64($0) } ?? 0
        let isWanted = address != nil && isOurs && microseconds > 0 && microseconds < .max
        watchdogInterval = isWanted ? Duration(messageMicroseconds: microseconds) : nil
    }

    /// Says that we are alive twice per interval, if the manager wants that, for as long as the
    /// loop turns. That is the point: a loop that hangs says nothing.
    func startWatchdog(_ loop: Loop) throws(UVError) {
        guard let watchdogInterval, alarms == nil else { return }
        let half = watchdogInterval / 2
        let alarms = try Alarms<Int>(loop, clock: .awake) { [weak self] _ in
            self?.say("WATCHDOG", "1")
            self?.alarms?.arm(0, after: half)
        }
        self.alarms = alarms
        say("WATCHDOG", "1")
        alarms.arm(0, after: half)
    }

    /// Everything that should run is ready.
    func ready() {
        wasReady = true
        say("READY", "1", wait: Self.edgeWait)
    }
    /// One line for people.
    func status(_ text: String) { say("STATUS", text) }
    /// The project stops.
    func stopping() { say("STOPPING", "1", wait: Self.edgeWait) }
    /// We read our config again; `reloaded` ends it. Before we were ever ready the manager is told
    /// nothing: it would take the end of the reload for that of the start.
    func reloading() {
        guard wasReady else { return }
        var message = OutgoingMessage()
        message.add("RELOADING", number: 1)
        message.add("MONOTONIC_USEC", number: clc_monotonic_microseconds())
        send(message)
    }
    /// The reload is over.
    func reloaded() {
        if wasReady { say("READY", "1", wait: Self.edgeWait) }
    }
    /// Our start or stop needs this much longer, from now on.
    func extendTimeout(_ duration: Duration) {
        say("EXTEND_TIMEOUT_USEC", String(duration.messageMicroseconds))
    }

    /// Ends the signs of life.
    func close() {
        alarms?.close()
        alarms = nil
    }

    private func say(_ key: String, _ text: String, wait: Int32 = 0) {
        var message = OutgoingMessage()
        message.add(key, text: text)
        send(message, wait: wait)
    }

    /// A message that cannot be sent is lost: there is nobody to tell, and nothing to do about it.
    private func send(_ message: OutgoingMessage, wait: Int32 = 0) {
        guard let address else { return }
        _ = message.send(to: address, wait: wait)
    }

    private static func take(_ name: String) -> String? {
        // SAFETY: the text is copied before the variable goes, and nothing else of ours changes the
        // environment.
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        unsafe unsetenv(name)
        return text.isEmpty ? nil : text
    }
}
