import Glibc
import Synchronization

/// Writes lines in the background, so that whoever reports never waits for whoever reads.
///
/// It keeps at most `capacity` lines; when more come, the oldest are dropped, and how many is said
/// once a second. A destination that fails is left alone for a while that doubles up to a minute.
/// It has a thread of its own: a write may block, and the pool of tasks must not.
///
/// The one file of this library that uses the C library.
package final class BackgroundWriter: Sendable {
    /// What became of a write.
    package enum Outcome: Hashable, Sendable {
        /// All of it is out.
        case written
        /// The destination failed with this error number.
        case failed(Int32)
    }

    /// Lines kept while the destination is slow.
    package static let capacity = 4_096
    /// How often at most it says that it dropped lines.
    private static let dropReportGap = Duration.seconds(1)

    private struct State {
        var lines: [[UInt8]] = []
        var dropped = 0
        var droppedInAll = 0
        /// Lines taken out to be written and not yet written.
        var underWay = 0
        var hasThread = false
        var flushers: [Completion<Void>] = []
    }

    private let state = Mutex(State())
    private let wakeup = Wakeup()
    private let write: @Sendable ([UInt8]) -> Outcome
    private let describeDrop: @Sendable (Int) -> [UInt8]
    private let name: String

    /// - Parameters:
    ///   - name: What it writes to, for the one line on standard error when that fails.
    ///   - describeDrop: The line that says how many were dropped.
    ///   - write: Writes one line; may block.
    package init(
        _ name: String, describeDrop: @escaping @Sendable (Int) -> [UInt8],
        write: @escaping @Sendable ([UInt8]) -> Outcome
    ) {
        self.name = name
        self.describeDrop = describeDrop
        self.write = write
    }

    /// How many lines were dropped since the beginning.
    package var dropped: Int { state.withLock { $0.droppedInAll } }

    /// Adds a line; never waits.
    package func enqueue(_ line: [UInt8]) {
        let mustStart = state.withLock { state in
            if state.lines.count >= Self.capacity {
                state.lines.removeFirst()
                state.dropped += 1
                state.droppedInAll += 1
            }
            state.lines.append(line)
            defer { state.hasThread = true }
            return !state.hasThread
        }
        if mustStart { startThread() }
        wakeup.post()
    }

    /// Waits until everything enqueued so far is out, at most for `limit`.
    /// - Returns: Whether it is.
    package nonisolated(nonsending) func flush(within limit: Duration) async -> Bool {
        let done = Completion<Void>()
        let isEmpty = state.withLock { state in
            guard !state.lines.isEmpty || state.underWay > 0 else { return true }
            state.flushers.append(done)
            return false
        }
        if isEmpty { return true }
        wakeup.post()
        // Real time: a sink is outside of what a test simulates.
        return await done.wait(for: Site("a flush"), until: .in(limit, clock: .continuous))
            != nil
    }

    private func startThread() {
        // SAFETY: the thread takes over the one retain; where it was not started, it is released
        // here.
        let box = unsafe Unmanaged.passRetained(self)
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<BackgroundWriter>.fromOpaque(argument).takeRetainedValue().drain()
                return nil
            }, box.toOpaque())
        guard result == 0 else {
            unsafe box.release()
            return state.withLock { $0.hasThread = false }
        }
        pthread_detach(thread)
    }

    /// The thread. It ends when nothing came for a while, and begins again with the next line.
    private func drain() {
        var quietUntil: ContinuousClock.Instant?
        var failures = 0
        var lastDropReport = ContinuousClock.now
        while true {
            guard let next = next(&lastDropReport) else {
                if wakeup.wait(for: .seconds(5)) || !retire() { continue }
                return
            }
            if let until = quietUntil, ContinuousClock.now < until {
                finish(next, isWritten: false)
                continue
            }
            switch write(next.line) {
            case .written:
                quietUntil = nil
                failures = 0
                finish(next, isWritten: true)
            case .failed(let number):
                if failures == 0 { complain(number) }
                let wait = Self.outage.delayBeforeJitter(step: failures)
                quietUntil = ContinuousClock.now.advanced(by: wait)
                failures += 1
                finish(next, isWritten: false)
            }
        }
    }

    /// A line to be written.
    private struct Next {
        let line: [UInt8]
        /// How many dropped lines it tells of; 0 if it is a line like any other.
        let reported: Int
    }

    private static let outage = Schedule.exponential(base: .seconds(1), cap: .seconds(60))

    private func next(_ lastDropReport: inout ContinuousClock.Instant) -> Next? {
        let isDue = ContinuousClock.now - lastDropReport >= Self.dropReportGap
        let (line, dropped): ([UInt8]?, Int) = state.withLock { state in
            if isDue, state.dropped > 0 {
                defer { state.dropped = 0 }
                state.underWay += 1
                return (nil, state.dropped)
            }
            guard !state.lines.isEmpty else { return (nil, 0) }
            state.underWay += 1
            return (state.lines.removeFirst(), 0)
        }
        if dropped > 0 {
            lastDropReport = .now
            return Next(line: describeDrop(dropped), reported: dropped)
        }
        return line.map { Next(line: $0, reported: 0) }
    }

    /// Counts what became of a line; what a report told of is told again if it was not written.
    private func finish(_ next: Next, isWritten: Bool) {
        let flushers: [Completion<Void>] = state.withLock { state in
            state.underWay -= 1
            if !isWritten {
                state.dropped += max(next.reported, 1)
                if next.reported == 0 { state.droppedInAll += 1 }
            }
            guard state.lines.isEmpty, state.underWay == 0 else { return [] }
            defer { state.flushers = [] }
            return state.flushers
        }
        for flusher in flushers { flusher.fulfil(()) }
    }

    /// Whether the thread may end: nothing came meanwhile.
    private func retire() -> Bool {
        state.withLock { state in
            guard state.lines.isEmpty, state.dropped == 0 else { return false }
            state.hasThread = false
            return true
        }
    }

    private func complain(_ number: Int32) {
        let reason = SystemError.meaning(of: number)
        _ = Self.write(Array("cannot write to \(name): \(reason); dropping events\n".utf8), to: 2)
    }

    /// Writes all of `bytes` to a descriptor; blocks as long as that does.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Outcome {
        // SAFETY: the kernel reads within the array, which lives through the closure; `poll` gets
        // one entry.
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(
                    descriptor, buffer.baseAddress?.advanced(by: done), bytes.count - done)
            }
            if count >= 0 {
                done += count
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe Glibc.poll(&poll, 1, 1_000)
            default: return .failed(errno)
            }
        }
        return .written
    }

    /// The value of an environment variable.
    package static func environment(_ name: String) -> String? {
        // SAFETY: the text is copied at once, before anything here changes the environment.
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    /// `device:inode` of a descriptor, as `JOURNAL_STREAM` names the journal's.
    package static func identity(of descriptor: Int32) -> String? {
        // SAFETY: `fstat` fills a variable of the size it expects, and keeps no pointer.
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        return "\(status.st_dev):\(status.st_ino)"
    }
}

/// A POSIX semaphore: what wakes the thread, from any task, without a lock.
private final class Wakeup: Sendable {
    // The semaphore needs an address of its own. Posting to and waiting at it is what it is for,
    // from any thread; it is never freed while its owner lives.
    private let address: UInt

    init() {
        // SAFETY: fresh memory of the right type, which this object alone owns.
        let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        unsafe sem_init(semaphore, 0, 0)
        address = UInt(bitPattern: semaphore)
    }

    deinit {
        // SAFETY: nobody else can use it any more: who does holds this object.
        guard let semaphore = unsafe semaphore else { return }
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    private var semaphore: UnsafeMutablePointer<sem_t>? {
        // SAFETY: the address is that of the semaphore made in `init`, which lives as long as this
        // object.
        unsafe UnsafeMutablePointer<sem_t>(bitPattern: address)
    }

    func post() {
        // SAFETY: the semaphore lives as long as this object, and may be posted to from any thread.
        guard let semaphore = unsafe semaphore else { return }
        unsafe sem_post(semaphore)
    }

    /// Waits for a post; `false` after `limit` without one.
    func wait(for limit: Duration) -> Bool {
        // SAFETY: the semaphore lives as long as this object; the C functions keep no pointer to
        // `moment`.
        guard let semaphore = unsafe semaphore else { return false }
        var moment = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &moment)
        moment.tv_sec += Int(limit.components.seconds)
        while unsafe sem_timedwait(semaphore, &moment) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }
}
