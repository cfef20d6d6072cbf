import CProcess
import CUV
import Glibc

/// One libuv loop. It belongs to the thread that runs it, and so does every handle on it.
@safe public final class Loop {
    private enum Phase {
        /// Between two runs.
        case resting
        /// `stop()` came before `run()`, which will return at once.
        case stoppedAhead
        case running
        /// Nothing is left to wait for; the last turn ends.
        case ending
        /// `stop()` came; the current iteration is the last.
        case stopping
        case closed
    }

    let pointer: UnsafeMutablePointer<uv_loop_t>
    private let turnHandle: UnsafeMutablePointer<uv_prepare_t>
    private var phase = Phase.resting
    private var watches: WatchSet?
    private var turnEnds: [() -> Void] = []
    private var unsettled: [any Settling] = []
    private var unfinishedWork = 0
    private var workReturn: WorkReturn?

    /// A loop of its own; nothing is shared with libuv's default loop.
    ///
    /// - Throws: `EMFILE`, `ENFILE` or `ENOMEM`; nothing stays open.
    public init() throws(UVError) {
        try requireDescriptors()
        // SAFETY: the loop and its handle are memory of this object, freed in `close()` after libuv
        // let go of them; the handle does not retain it, because it ends first.
        let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
        let result = unsafe uv_loop_init(loop)
        guard result >= 0 else {
            unsafe loop.deallocate()
            throw UVError(code: result, call: "uv_loop_init")
        }
        unsafe pointer = loop
        do throws(UVError) {
            unsafe try Self.makeRoom(for: loop.pointee.async_io_watcher.fd, in: loop)
            unsafe try Self.makeRoom(for: loop.pointee.signal_io_watcher.fd, in: loop)
        } catch {
            unsafe uv_loop_close(loop)
            unsafe loop.deallocate()
            throw error
        }
        unsafe turnHandle = .allocate(capacity: 1)
        // These two cannot fail on a fresh handle.
        unsafe uv_prepare_init(loop, turnHandle)
        unsafe turnHandle.pointee.data = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe uv_prepare_start(turnHandle, turnEnded)
        unsafe turnHandle.withMemoryRebound(to: uv_handle_t.self, capacity: 1) {
            unsafe uv_unref($0)
        }
    }

    /// Has the kernel watch a descriptor that libuv will watch. It does so right before it waits,
    /// and ends the process if the kernel has no room; one that is watched already it takes over.
    func makeRoom(for descriptor: CInt) throws(UVError) {
        // SAFETY: the loop lives until `close()`, and nobody watches through a closed one.
        unsafe try Self.makeRoom(for: descriptor, in: pointer)
    }

    @unsafe private static func makeRoom(
        for descriptor: CInt, in loop: UnsafeMutablePointer<uv_loop_t>
    ) throws(UVError) {
        // SAFETY: the caller hands over a loop that was initialised.
        let error = cproc_ready_begin(
            unsafe uv_backend_fd(loop), descriptor, UInt32(CPROC_READABLE), UInt64(descriptor))
        guard error == 0 else { throw UVError(code: -error, call: "epoll_ctl") }
    }

    /// False from `close()` on.
    var isOpen: Bool {
        switch phase {
        case .resting, .stoppedAhead, .running, .ending, .stopping: true
        case .closed: false
        }
    }

    /// Runs callbacks until `stop()`, or until nothing is left that could call back: no watch with
    /// an interest, no signal watch, no alarms, no wakeup, no queued work. May be called again.
    ///
    /// The wait inside has no bound of its own; an `Alarms` or a signal is what ends it.
    /// - Throws: `EBUSY` from inside a callback of this loop, `EINVAL` after `close()`.
    public func run() throws(UVError) {
        switch phase {
        case .resting: phase = .running
        case .stoppedAhead:
            phase = .resting
            return
        case .running, .ending, .stopping:
            throw UVError(code: UV_EBUSY.rawValue, call: "uv_run")
        case .closed: throw UVError(code: UV_EINVAL.rawValue, call: "uv_run")
        }
        repeat {
            // SAFETY: the phase says that the loop is open, and that it does not run yet.
            unsafe uv_run(pointer, UV_RUN_DEFAULT)
            // What the very last callbacks noticed belongs to a turn as well, and that turn may
            // open something new.
            if case .running = phase { endLastTurn() }
        } while isRunningWithWork
        phase = .resting
    }

    /// Makes `run()` return after the current callbacks; before `run()`, makes that return at once.
    ///
    /// Callbacks that are due in the same iteration still run, but no turn end.
    public func stop() {
        switch phase {
        case .resting: phase = .stoppedAhead
        case .running:
            phase = .stopping
            // SAFETY: the phase says that the loop is open.
            unsafe uv_stop(pointer)
        case .ending: phase = .stopping
        case .stoppedAhead, .stopping, .closed: return
        }
    }

    /// Ends the loop and frees what it owns; again: nothing. Traps, naming them, if handles are
    /// still open or queued work is unfinished, and from inside a callback: those are defects of
    /// the owner.
    public func close() {
        switch phase {
        case .resting, .stoppedAhead: break
        case .running, .ending, .stopping: fatalError("cannot close a loop that runs")
        case .closed: return
        }
        workReturn?.close()
        let left = openHandles()
        demand(left.isEmpty, "cannot close the loop: left open: \(left)")
        demand(
            unfinishedWork == 0, "cannot close the loop: \(unfinishedWork) queued work unfinished")
        phase = .closed
        watches?.close()
        watches = nil
        let bodies = turnEnds
        turnEnds = []
        defer { withExtendedLifetime(bodies) {} }
        // SAFETY: the phase lets this be reached once; every handle of libuv begins with the common
        // part, and the memory goes after `uv_loop_close` found nothing left.
        unsafe turnHandle.withMemoryRebound(to: uv_handle_t.self, capacity: 1) {
            unsafe uv_close($0, nil)
        }
        // Only close callbacks are left. One round does, unless a signal was caught and never
        // handed over; that takes as many rounds as reading the signals does.
        var rounds = 0
        while unsafe uv_run(pointer, UV_RUN_NOWAIT) != 0 {
            rounds += 1
            demand(rounds < 10_000, "cannot close the loop: its handles do not end")
        }
        let result = unsafe uv_loop_close(pointer)
        demand(result == 0, "cannot close the loop: uv_loop_close answered \(result)")
        unsafe turnHandle.deallocate()
        unsafe pointer.deallocate()
    }

    deinit { close() }

    /// Both clocks, read at this moment: `CLOCK_MONOTONIC`, which stands still while the machine
    /// sleeps, and `CLOCK_BOOTTIME`, which does not.
    public var now: (awake: Duration, boot: Duration) {
        (
            .nanoseconds(nanoseconds(of: CLOCK_MONOTONIC)),
            .nanoseconds(nanoseconds(of: CLOCK_BOOTTIME))
        )
    }

    /// Has `body` run at the end of each turn: after the callbacks that came together, before the
    /// loop waits (also before the first wait of a run), and once more when nothing is left to wait
    /// for. So nothing that a callback noticed waits for the next event, except at `stop()`.
    ///
    /// Bodies run in the order they were given, until `close()` drops them. They do not keep the
    /// loop running.
    public func onTurnEnd(_ body: @escaping () -> Void) { turnEnds.append(body) }

    /// Has `one` settled before the loop waits next, after everything that ends the turn.
    func settleAtTurnEnd(_ one: any Settling) { unsettled.append(one) }

    func leaveUnsettled(_ one: any Settling) { unsettled.removeAll { $0 === one } }

    fileprivate func endTurn() {
        for body in turnEnds { body() }
        for one in unsettled { one.settle() }
        unsettled.removeAll(keepingCapacity: true)
    }

    private func endLastTurn() {
        phase = .ending
        endTurn()
        if case .ending = phase { phase = .running }
    }

    private var isRunningWithWork: Bool {
        guard case .running = phase else { return false }
        // SAFETY: the loop runs, so it is open.
        return unsafe uv_loop_alive(pointer) != 0
    }

    /// Where watches wait; made for the first one.
    func watchSet() throws(UVError) -> WatchSet {
        if let watches { return watches }
        let made = try WatchSet(self)
        watches = made
        return made
    }

    /// Where work that is done comes back to; made for the first.
    func workIsBegun() throws(UVError) -> WorkReturn {
        let back: WorkReturn
        if let workReturn { back = workReturn } else { back = try WorkReturn(self) }
        workReturn = back
        unfinishedWork += 1
        back.hold(true)
        return back
    }

    func workEnded() {
        unfinishedWork -= 1
        if unfinishedWork == 0 { workReturn?.hold(false) }
    }

    /// The labels of all handles that nobody closed, joined for a message; empty if there is none.
    private func openHandles() -> String {
        var labels = watches?.labels ?? []
        // SAFETY: `uv_walk` calls back before it returns, so the array outlives every use of its
        // pointer.
        unsafe withUnsafeMutablePointer(to: &labels) {
            unsafe uv_walk(pointer, collectLabel, $0)
        }
        return labels.joined(separator: ", ")
    }
}

/// What tells the kernel once what changed in a turn.
protocol Settling: AnyObject {
    func settle()
}

/// libuv ends the process when it cannot have the first descriptors of a loop (a pipe for signals),
/// so whether they can be had is tried before.
private func requireDescriptors() throws(UVError) {
    var made: [CInt] = []
    defer { for number in made { Glibc.close(number) } }
    for _ in 0..<8 {
        let number = timerfd_create(CLOCK_MONOTONIC, CInt(TFD_CLOEXEC))
        guard number >= 0 else { throw UVError(code: -errno, call: "timerfd_create") }
        made.append(number)
    }
}

/// Adds the label of an open handle to the `[String]` behind `labels`.
private func collectLabel(
    _ handle: UnsafeMutablePointer<uv_handle_t>?, _ labels: UnsafeMutableRawPointer?
) {
    // SAFETY: `uv_walk` hands over handles that live, and the pointer to the array of
    // `openHandles`.
    guard unsafe uv_is_closing(handle) == 0 else { return }
    // The loop's own are the only ones of these kinds: the end of its turns, and its watches.
    let kind = unsafe uv_handle_get_type(handle)
    guard kind != UV_PREPARE, kind != UV_POLL else { return }
    let label = unsafe HandleBox.of(uv_handle_get_data(handle)).label
    unsafe labels?.assumingMemoryBound(to: [String].self).pointee.append(label)
}

/// libuv runs it before each wait, after the callbacks of the iteration before.
private func turnEnded(_ handle: UnsafeMutablePointer<uv_prepare_t>?) {
    // SAFETY: the data is the loop that owns the handle, and `close()` ends the handle first.
    guard let handle = unsafe handle, let data = unsafe handle.pointee.data else {
        fatalError("a turn ended without its loop")
    }
    unsafe Unmanaged<Loop>.fromOpaque(data).takeUnretainedValue().endTurn()
}
