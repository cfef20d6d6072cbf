import CLifecycle
import Glibc

/// What a service says to the orchestrator that runs it, and hears from it.
///
/// Under no orchestrator every call does nothing and says so, so a program needs no condition
/// around them. Under systemd everything but the messages to the service works too.
///
/// Every function may be called from any thread. Sending waits at most a second, and only while the
/// orchestrator has not read what was sent before.
public struct ServiceClient: Sendable {
    /// The client of this process. The first use opens the control channel named in
    /// `ORCHESTRATOR_FD`, and unsets the variable: use it early, before other threads are started.
    public static let current = ServiceClient()

    private init() { _ = clc_open() }

    /// Whether somebody hears what we say: we have a control channel or a notify socket.
    public var isSupervised: Bool {
        if clc_fd() >= 0 { return true }
        // SAFETY: the text ends with a zero, so its first byte can be read; no pointer is kept.
        guard let address = unsafe getenv("NOTIFY_SOCKET") else { return false }
        return unsafe address.pointee != 0
    }

    // MARK: What the service says

    /// The service can be used; also the end of a reload.
    /// - Parameters:
    ///   - status: One line for people.
    ///   - values: Handed to the services that need this one. Names are letters, digits, `_`, `-`
    ///     and `.`, at most 64 bytes; a text is cut at 4 KiB.
    /// - Returns: The first failure, else whether it was sent.
    @discardableResult
    public func ready(status: String? = nil, values: [String: String] = [:]) -> Delivery {
        // SAFETY: the texts end with a zero and live through the call, which copies them.
        for (name, text) in values.sorted(by: { $0.key < $1.key }) {
            let delivery = unsafe Delivery(clc_value(name, text))
            guard delivery == .sent else { return delivery }
        }
        if let status {
            let delivery = self.status(status)
            guard delivery == .sent else { return delivery }
        }
        return Delivery(clc_ready())
    }

    /// One line for people about what the service does; a text is cut at 4 KiB.
    @discardableResult
    public func status(_ text: String) -> Delivery {
        // SAFETY: the text ends with a zero and lives through the call, which copies it.
        unsafe Delivery(clc_status_text(text))
    }

    /// The service stops: the answer to `ServiceOrder.stop`, or on its own account.
    @discardableResult
    public func stopping() -> Delivery { Delivery(clc_stopping()) }

    /// The service reads its config again; `ready` ends it.
    @discardableResult
    public func reloading() -> Delivery { Delivery(clc_reloading()) }

    /// The service needs this much longer for its start or stop, counted from now.
    @discardableResult
    public func extendTimeout(_ duration: Duration) -> Delivery {
        Delivery(clc_extend_timeout(duration.wholeMicroseconds))
    }

    /// The service is alive. Say it about twice per `watchdogInterval`.
    @discardableResult
    public func pingWatchdog() -> Delivery { Delivery(clc_watchdog_ping()) }

    /// How often a sign of life is expected; `nil` where none is.
    public var watchdogInterval: Duration? {
        let interval = clc_watchdog_interval()
        return interval == 0 ? nil : .fromMicroseconds(interval)
    }

    /// Lines `KEY=value` as they are, separated by newlines.
    @discardableResult
    public func send(_ lines: String) -> Delivery {
        // SAFETY: the text ends with a zero and lives through the call, which copies it.
        unsafe Delivery(clc_notify(lines))
    }

    /// Waits until everything said before has been read, at most `timeout`.
    @discardableResult
    public func barrier(timeout: Duration) -> Delivery {
        Delivery(clc_notify_barrier(timeout.wholeMicroseconds))
    }

    // MARK: What the service hears

    /// The descriptor to poll for input before `nextOrder`; `nil` where there is no channel, or no
    /// longer one. It stays the client's: do not close it.
    public var descriptor: CInt? {
        let number = clc_fd()
        return number < 0 ? nil : number
    }

    /// Takes the next order without waiting. One thread takes orders, this one or `listen`'s.
    /// - Returns: `nil` when there is none now, or no channel.
    public func nextOrder() -> ServiceOrder? {
        let wasOpen = clc_fd() >= 0
        // SAFETY: `clc_next` fills the message, and keeps no pointer to it.
        var message = clc_message()
        let result = unsafe clc_next(&message)
        if wasOpen && clc_fd() < 0 { return .disconnected }
        guard result == 1 else { return nil }
        return ServiceOrder(message)
    }
}

/// What became of something said.
public enum Delivery: Hashable, Sendable {
    /// It is on its way: nothing after it overtakes it.
    case sent
    /// Nobody runs us, so nobody heard it. Not a failure.
    case nobodyListens
    /// The system refused it, by its error number: `EAGAIN` where the orchestrator did not read for
    /// a second, `ETIMEDOUT` for a barrier, `EINVAL` for the name of a value.
    case failed(Int32)

    init(_ result: Int32) {
        self = result > 0 ? .sent : result == 0 ? .nobodyListens : .failed(-result)
    }
}

extension Duration {
    /// Microseconds, rounded up; zero for a negative duration, the largest number where it does not
    /// fit.
    var wholeMicroseconds: UInt64 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        let rest = UInt64((attoseconds + 999_999_999_999) / 1_000_000_000_000)
        let (product, isTooLong) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000)
        let (sum, isTooLongAfterAll) = product.addingReportingOverflow(rest)
        return isTooLong || isTooLongAfterAll ? .max : sum
    }

    static func fromMicroseconds(_ number: UInt64) -> Duration {
        .seconds(Int64(number / 1_000_000)) + .microseconds(Int64(number % 1_000_000))
    }
}
