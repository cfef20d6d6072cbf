import CUV

/// What a `Watch` waits for, and what it reports.
public struct Interest: OptionSet, Hashable, Sendable {
    /// libuv's bits, as `uv_poll_event` numbers them.
    public let rawValue: Int32

    /// The set of the given bits; only the four below mean anything.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// A read would not wait: bytes, a datagram, a connection to accept, an exit (pidfd), or the end.
    public static let readable = Interest(rawValue: 1)
    /// A write would not wait.
    public static let writable = Interest(rawValue: 2)
    /// The other end of a stream socket closed or shut down its writing side.
    public static let disconnect = Interest(rawValue: 4)
    /// Urgent data or an exceptional condition (`POLLPRI`): cgroup and pressure files.
    public static let priority = Interest(rawValue: 8)

    static let everything: Interest = [.readable, .writable, .disconnect, .priority]
}

/// Waits on a descriptor it does not own (`uv_poll`): pipe, socket, pidfd, timerfd, terminal.
///
/// Level-triggered: while there is something to read, `react` is called once a turn. It keeps the
/// loop running as long as it has an interest. Dropped without `close()`, it closes itself.
public final class Watch {
    private let loop: Loop
    private let box: HandleBox
    private let descriptor: CInt
    private var interest: Interest

    /// Starts waiting. libuv makes the descriptor non-blocking, for everybody who shares it.
    ///
    /// - Parameter react: runs on the loop's thread with what is ready, never an empty set. After an
    ///   error on the descriptor (`POLLERR`) it gets the whole interest and `.disconnect`: the
    ///   owner's next read or write tells which error it is.
    /// - Throws: `EPERM` for what cannot be waited on (a regular file), `EBADF`, and `EEXIST` for a
    ///   descriptor which has a watch already; wait on a `dup` of it instead.
    public init(
        _ loop: Loop, descriptor: CInt, interest: Interest, _ react: @escaping (Interest) -> Void
    ) throws(UVError) {
        precondition(loop.isOpen, "cannot watch descriptor \(descriptor): the loop is closed")
        self.loop = loop
        self.descriptor = descriptor
        self.interest = interest
        box = try unsafe HandleBox(
            of: uv_poll_t.self, label: "watch of descriptor \(descriptor)", call: "uv_poll_init",
            initialize: { unsafe uv_poll_init(loop.pointer, $0, descriptor) },
            react: { _, events in react(Interest(rawValue: events)) })
        change(to: interest)
    }

    /// Waits for something else from now on; for nothing with an empty set. After `close()`: nothing.
    public func change(to interest: Interest) {
        guard box.isOpen else { return }
        self.interest = interest
        let result = unsafe uv_poll_start(
            box.handle(as: uv_poll_t.self), interest.intersection(.everything).rawValue, polled)
        precondition(result == 0, "cannot watch descriptor \(descriptor): it has another watch")
    }

    /// Stops waiting; `react` never runs afterwards, even if it was due in this turn. Idempotent.
    ///
    /// Afterwards, and not before, the descriptor may be closed.
    public func close() { box.close() }

    deinit { box.close() }
}

private func polled(_ handle: UnsafeMutablePointer<uv_poll_t>?, _ status: CInt, _ events: CInt) {
    guard let handle = unsafe handle else { fatalError("a poll callback came without its handle") }
    unsafe HandleBox.of(handle.pointee.data).react(status, events)
}
