public import Stoic

internal import EventLoop
internal import Glibc
internal import Synchronization

/// Writes to a terminal, or whatever stands for one, without ever making its caller wait: a thread
/// of its own does the writing, from a bounded queue.
///
/// A terminal that is held (Ctrl-S), slow or gone costs output, which is counted and announced in
/// the output itself, and nothing else.
public final class ConsoleWriter: Sendable {
    private let core: ConsoleCore

    /// - Parameters:
    ///   - descriptor: where to write; it must stay open for as long as the process lives.
    ///   - capacity: bytes that wait at most, beside those being written. Default 1 MiB.
    /// - Throws: when no thread or no pipe to wake it can be had.
    public init(descriptor: Int32 = 1, capacity: Int = 1 << 20) throws(SystemError) {
        core = ConsoleCore(
            descriptor: descriptor, capacity: capacity, wake: try SelfPipe(), done: try SelfPipe())
        try core.startThread()
    }

    /// Queues whole lines. They are dropped as a whole, and counted, when the queue is full.
    public func write(_ bytes: [UInt8]) { core.enqueue(bytes) }

    /// How many bytes were dropped, because the queue was full or the terminal is gone.
    public var dropped: UInt64 { core.state.withLock { $0.droppedInAll } }

    /// Waits until everything queued was written, but no longer than `limit`.
    /// - Returns: whether it was.
    public func flush(within limit: Duration) -> Bool { core.flush(within: limit) }

    /// Like `flush`; afterwards nothing is taken any more, and the thread ends once it can.
    public func close(within limit: Duration) -> Bool {
        let isWritten = core.flush(within: limit)
        core.close()
        return isWritten
    }

    deinit { core.close() }
}

/// What the caller and the thread share.
final class ConsoleCore: Sendable {
    struct State {
        var queue: [UInt8] = []
        var phase = Phase.idle
        /// Since the last announcement: writes of the caller, each one or more lines.
        var droppedWrites = 0
        var droppedInAll: UInt64 = 0
    }

    enum Phase {
        /// The thread waits for something to write.
        case idle
        /// The thread writes.
        case writing
        /// No more is taken; the thread ends when it sees it.
        case closed
        /// Writing failed for good: the terminal is gone.
        case gone
    }

    let state = Mutex(State())
    private let descriptor: Int32
    private let capacity: Int
    private let wake: SelfPipe
    private let done: SelfPipe

    init(descriptor: Int32, capacity: Int, wake: SelfPipe, done: SelfPipe) {
        self.descriptor = descriptor
        self.capacity = capacity
        self.wake = wake
        self.done = done
    }

    /// Starts the thread, which holds `self` until it ends. It takes no signals: they belong to
    /// the loop, and a write to a closed pipe must be an error, not a death.
    func startThread() throws(SystemError) {
        var all = sigset_t()
        var before = sigset_t()
        // SAFETY: the sets are ours; the thread takes over the one retain, and where it was not
        // started, it is released here.
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let held = unsafe Unmanaged.passRetained(self)
        let result = unsafe pthread_create(&thread, nil, runConsole, held.toOpaque())
        guard result == 0 else {
            unsafe held.release()
            throw SystemError("start a thread for", "the terminal", code: result)
        }
        pthread_detach(thread)
    }

    func enqueue(_ bytes: [UInt8]) {
        let mustWake = state.withLock { state in
            switch state.phase {
            case .closed, .gone:
                state.droppedInAll += UInt64(bytes.count)
                return false
            case .idle, .writing: break
            }
            guard state.droppedWrites == 0, state.queue.count + bytes.count <= capacity else {
                state.droppedWrites += 1
                state.droppedInAll += UInt64(bytes.count)
                return false
            }
            state.queue += bytes
            if case .idle = state.phase { return true }
            return false
        }
        if mustWake { wake.signal() }
    }

    func flush(within limit: Duration) -> Bool {
        let end = awakeTime() + min(max(limit, .zero), .seconds(60))
        while true {
            let isWritten = state.withLock { state -> Bool? in
                switch state.phase {
                case .gone: false
                case .closed: state.queue.isEmpty
                case .idle: state.queue.isEmpty ? true : nil
                case .writing: nil
                }
            }
            if let isWritten { return isWritten }
            let left = end - awakeTime()
            if left <= .zero { return false }
            done.wait(milliseconds: Int32(left / .milliseconds(1)) + 1)
        }
    }

    func close() {
        state.withLock { state in
            switch state.phase {
            case .idle, .writing: state.phase = .closed
            case .closed, .gone: break
            }
        }
        wake.signal()
    }

    /// The thread: one batch after the other, until it is closed or the terminal is gone.
    func run() {
        while let batch = nextBatch() {
            if batch.isEmpty {
                done.signal()
                wake.wait(milliseconds: -1)
            } else {
                let lost = writeAll(batch)
                if lost > 0 { giveUp(lost) }
            }
        }
        done.signal()
    }

    /// What to write next; empty when there is nothing, `nil` when the thread is to end.
    private func nextBatch() -> [UInt8]? {
        state.withLock { state in
            switch state.phase {
            case .closed where state.queue.isEmpty, .gone: return nil
            case .closed: break
            case .idle, .writing: state.phase = state.queue.isEmpty ? .idle : .writing
            }
            var batch: [UInt8] = []
            swap(&batch, &state.queue)
            if state.droppedWrites > 0 {
                let notice = "[\(state.droppedWrites) lines lost here: the terminal is too slow]\n"
                batch += Array(notice.utf8)
                state.droppedWrites = 0
            }
            return batch
        }
    }

    /// - Returns: how many bytes could not be written, because the terminal is gone.
    private func writeAll(_ batch: [UInt8]) -> Int {
        var rest = batch[...]
        while !rest.isEmpty {
            let (count, code) = FileCalls.write(rest.span, to: descriptor)
            rest = rest.dropFirst(count)
            switch code {
            case nil: continue
            case EAGAIN?: waitForRoom()
            case .some: return rest.count
            }
        }
        return 0
    }

    private func giveUp(_ lost: Int) {
        state.withLock { state in
            state.phase = .gone
            state.droppedInAll += UInt64(lost + state.queue.count)
            state.queue = []
        }
    }

    /// Somebody made the terminal non-blocking. Waits for a second at a time, as `write` would.
    private func waitForRoom() {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        // SAFETY: `poll` gets one entry, and keeps no pointer to it.
        unsafe poll(&entry, 1, 1000)
    }
}

private func runConsole(_ held: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // SAFETY: it is the retain of `startThread`, taken over once.
    guard let held = unsafe held else { fatalError("the terminal's thread came without its queue") }
    unsafe Unmanaged<ConsoleCore>.fromOpaque(held).takeRetainedValue().run()
    return nil
}
