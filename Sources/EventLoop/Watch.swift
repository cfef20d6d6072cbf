import Glibc

/// What a `Watch` waits for, and what it reports.
public struct Interest: OptionSet, Hashable, Sendable {
    /// One bit for each of the four below.
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

    fileprivate static let everything: Interest = [.readable, .writable, .disconnect, .priority]
}

/// Waits on a descriptor it does not own: pipe, socket, pidfd, timerfd, terminal.
///
/// Level-triggered: as long as there is something to read, `react` is called once a turn. It keeps
/// the loop running as long as it has an interest. Dropped without `close()`, it closes itself.
///
/// The watch must be closed before the descriptor is: if somebody else has the open file too, the
/// loop would be woken for it for ever.
public final class Watch {
    private enum State {
        case open(_ react: (Interest) -> Void)
        case closed
    }

    private let set: WatchSet
    private let descriptor: CInt
    private var slot: Int32 = 0
    private var interest: Interest = []
    private var state: State

    /// Starts waiting. Makes the descriptor non-blocking, for everybody who shares its open file.
    ///
    /// - Parameter react: runs on the loop's thread with what is ready, never an empty set. Of an
    ///   error on the descriptor (`POLLERR`: a pipe without reader, a refused datagram) it is told
    ///   by its whole interest and `.disconnect`; the owner's next read or write gets the error
    ///   itself. An error that stays comes again every turn, until `close()` or an empty interest.
    /// - Throws: `EPERM` for what cannot be waited on (a regular file), `EBADF`, and `EEXIST` for a
    ///   descriptor which has a watch already; wait on a `dup` of it instead. `ENOSPC` and
    ///   `ENOMEM` where the kernel has no room, `EMFILE` and the like from a loop's first watch.
    public init(
        _ loop: Loop, descriptor: CInt, interest: Interest, _ react: @escaping (Interest) -> Void
    ) throws(UVError) {
        demand(loop.isOpen, "cannot watch descriptor \(descriptor): the loop is closed")
        set = try loop.watchSet()
        self.descriptor = descriptor
        state = .closed
        slot = Int32(set.add(self))
        let interest = interest.intersection(.everything)
        let error = set.begin(Int(slot), descriptor, interest)
        guard error == 0 else {
            set.remove(Int(slot))
            throw UVError(code: -error, call: "epoll_ctl")
        }
        self.interest = interest
        state = .open(react)
        let flags = fcntl(descriptor, F_GETFL)
        if flags & O_NONBLOCK == 0 { _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) }
    }

    /// Waits for something else from now on; for nothing with an empty set, and then it does not
    /// keep the loop running. A change that is none costs nothing. After `close()`: nothing.
    public func change(to interest: Interest) {
        guard case .open = state else { return }
        let interest = interest.intersection(.everything)
        guard interest != self.interest else { return }
        let error = set.change(Int(slot), descriptor, from: self.interest, to: interest)
        demand(error == 0, "cannot watch descriptor \(descriptor): errno \(error)")
        self.interest = interest
    }

    /// Stops waiting; `react` never runs afterwards, even if it was due in this turn. Idempotent.
    public func close() {
        guard case .open(let reaction) = state else { return }
        // Letting go of the reaction may free its owner, which may call `close()` again: that must
        // find the state changed and nobody inside it.
        withExtendedLifetime(reaction) {
            state = .closed
            set.end(descriptor, interest)
            set.remove(Int(slot))
        }
    }

    deinit { close() }

    var label: String { "watch of descriptor \(descriptor)" }

    func becameReady(_ events: UInt32) {
        guard case .open(let reaction) = state, !interest.isEmpty else { return }
        let told = interest.told(events)
        if !told.isEmpty { reaction(told) }
    }
}
