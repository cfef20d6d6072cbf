import CUV

/// What a `Watch` waits for, and what it reports.
public struct Interest: OptionSet, Hashable, Sendable {
    /// libuv's bits, as `uv_poll_event` numbers them.
    public let rawValue: Int32

    /// The set of the given bits; only the four below mean anything.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// A read would not wait: bytes, a datagram, a connection to accept, an exit (pidfd), or the
    /// end.
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
/// Level-triggered: as long as there is something to read, `react` is called once a turn. It keeps
/// the loop running as long as it has an interest. Dropped without `close()`, it closes itself.
///
/// The watch must be closed before the descriptor is: libuv aborts the process over a watched
/// descriptor that is not open, and closing the watch late makes whatever got the number deaf.
public final class Watch {
    private let loop: Loop
    private let box: PollBox

    /// Starts waiting. libuv makes the descriptor non-blocking, for everybody who shares it.
    ///
    /// - Parameter react: runs on the loop's thread with what is ready, never an empty set. Of an
    ///   error on the descriptor (`POLLERR`: a pipe without reader, a refused datagram) it is told
    ///   by its whole interest and `.disconnect`; the owner's next read or write gets the error
    ///   itself. An error that stays comes again every turn, until `close()` or an empty interest.
    /// - Throws: `EPERM` for what cannot be waited on (a regular file), `EBADF`, and `EEXIST` for a
    ///   descriptor which has a watch already; wait on a `dup` of it instead.
    public init(
        _ loop: Loop, descriptor: CInt, interest: Interest, _ react: @escaping (Interest) -> Void
    ) throws(UVError) {
        demand(loop.isOpen, "cannot watch descriptor \(descriptor): the loop is closed")
        self.loop = loop
        box = try PollBox(loop, descriptor, react)
        box.start(interest)
    }

    /// Waits for something else from now on; for nothing with an empty set, and then it does not
    /// keep the loop running. After `close()`: nothing.
    public func change(to interest: Interest) {
        guard box.isOpen else { return }
        box.change(to: interest)
    }

    /// Stops waiting; `react` never runs afterwards, even if it was due in this turn. Idempotent.
    public func close() { box.close() }

    deinit { box.close() }
}

/// The handle of a watch, and what it waits for.
private final class PollBox: HandleBox {
    private let descriptor: CInt
    private var interest: Interest = []

    init(
        _ loop: Loop, _ descriptor: CInt, _ react: @escaping (Interest) -> Void
    ) throws(UVError) {
        self.descriptor = descriptor
        try unsafe super.init(
            of: uv_poll_t.self, call: "uv_poll_init",
            initialize: { unsafe uv_poll_init(loop.pointer, $0, descriptor) },
            react: { _, events in react(Interest(rawValue: events)) })
    }

    override var label: String { "watch of descriptor \(descriptor)" }

    /// A change that is none costs nothing: writers ask for the same with every line they queue,
    /// and each start is a call into the kernel.
    func change(to interest: Interest) {
        if interest.intersection(.everything) != self.interest { start(interest) }
    }

    func start(_ interest: Interest) {
        self.interest = interest.intersection(.everything)
        let result = unsafe uv_poll_start(
            handle(as: uv_poll_t.self), self.interest.rawValue, polled)
        demand(result == 0, "cannot watch descriptor \(descriptor): it has another watch")
    }

    func translate(_ status: CInt, _ events: CInt) {
        guard status < 0 else { return react(0, events) }
        // libuv stops a handle when it sees POLLERR, and calls every error EBADF. Waiting goes on:
        // a socket's error is over once it was read, and then the next datagram counts.
        let told = interest.union(.disconnect)
        start(interest)
        react(status, told.rawValue)
    }
}

private func polled(_ handle: UnsafeMutablePointer<uv_poll_t>?, _ status: CInt, _ events: CInt) {
    guard let handle = unsafe handle else { fatalError("a poll callback came without its handle") }
    unsafe PollBox.of(handle.pointee.data, as: PollBox.self).translate(status, events)
}
