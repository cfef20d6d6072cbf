import CLifecycle
import Glibc

/// What the orchestrator wants of a service with a control channel.
public enum ServiceOrder: Hashable, Sendable {
    /// The service is to stop. Answer with `stopping()` within half a second, or SIGTERM follows.
    case stop(Stop)
    /// The service is to read its config again. Answer with `reloading()`, and `ready()` when done.
    case reload
    /// The orchestrator is gone: nothing will follow. Said once.
    case disconnected

    /// The details of a stop.
    public struct Stop: Hashable, Sendable {
        /// Why, in words; empty where no reason was given.
        public var reason: String
        /// From the arrival of the order to SIGKILL; `nil` where no deadline was given.
        public var deadline: Duration?
    }

    init(_ message: clc_message) {
        guard message.kind == CLC_STOP else {
            self = .reload
            return
        }
        // SAFETY: the bytes are read within the closure, and copied.
        let reason = unsafe withUnsafeBytes(of: message.reason) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let deadline = message.deadline
        self = .stop(
            Stop(reason: reason, deadline: deadline == .max ? nil : .fromMicroseconds(deadline)))
    }
}

extension ServiceClient {
    /// Waits for orders, at most `timeout`, and hands each to `react`.
    /// - Returns: Whether there was any. Without a channel it returns `false` at once.
    @discardableResult
    public func takeOrders(timeout: Duration, _ react: (ServiceOrder) -> Void) -> Bool {
        guard let descriptor else { return false }
        // SAFETY: `poll` gets one entry, and keeps no pointer to it.
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let (milliseconds, rest) = timeout.wholeMicroseconds.quotientAndRemainder(dividingBy: 1000)
        let wait = Int32(clamping: milliseconds + (rest > 0 ? 1 : 0))
        guard unsafe poll(&entry, 1, wait) > 0 else { return false }
        var wasAny = false
        while let order = nextOrder() {
            wasAny = true
            react(order)
        }
        return wasAny
    }

    /// Calls `react` for each order on a thread of its own, until the orchestrator is gone. Call it
    /// at most once.
    /// - Returns: Whether the thread was started: there is a channel, and the system allowed it.
    @discardableResult
    public func listen(_ react: @escaping @Sendable (ServiceOrder) -> Void) -> Bool {
        guard descriptor != nil else { return false }
        // SAFETY: the thread takes over the one retain; where it was not started, it is released
        // here.
        let listener = unsafe Unmanaged.passRetained(Listener(client: self, react: react))
        var thread = pthread_t()
        let failure = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Listener>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, listener.toOpaque())
        guard failure == 0 else {
            unsafe listener.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}

/// The thread of `listen`.
private final class Listener: Sendable {
    let client: ServiceClient
    let react: @Sendable (ServiceOrder) -> Void

    init(client: ServiceClient, react: @escaping @Sendable (ServiceOrder) -> Void) {
        self.client = client
        self.react = react
    }

    /// Wakes once a minute for nothing, so that no wait is without a bound.
    func run() {
        while client.descriptor != nil {
            client.takeOrders(timeout: .seconds(60), react)
        }
    }
}
