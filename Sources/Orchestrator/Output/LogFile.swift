internal import EventLoop
internal import Glibc
internal import Stoic

/// A service's log on disk: its bytes unchanged in one file, the index beside it, and the rotated
/// files `NAME.log.1` (latest) to `NAME.log.N` with their indexes.
///
/// Nothing here waits, and nothing here fails for good: bytes that cannot be written are lost and
/// counted, and a new try is made at a bounded rate. When the name is a link, what it points to is
/// written and rotated where it is; a device or a FIFO is written as it is, without an index.
final class LogFile {
    /// What happened to the file, for the owner to report.
    enum Event: Hashable {
        /// The name no longer led to the file that was open: it was removed, renamed or replaced.
        case reopened
        /// A rotation could not be done; writing goes on in the same file, up to twice its limit.
        case rotationFailed(SystemError)
        /// Rotation failed for so long that the file reached twice its limit and was emptied.
        case emptied(bytes: UInt64)
        /// The index cannot be written: times and streams of what follows will be unknown.
        case indexFailed(SystemError)
    }

    /// The name, as the config or the state directory gives it.
    let path: String
    /// A file is rotated before it grows beyond this; at least 4 KiB.
    var maxBytes: UInt64 { didSet { maxBytes = max(maxBytes, Self.smallestLimit) } }
    /// How many rotated files are kept.
    var keptFiles: Int
    private var state = State.closed
    private var lost: UInt64 = 0
    private let report: (Event) -> Void

    /// Nanoseconds between two tries to open a file that failed.
    static let retryAfter: Int64 = 250_000_000
    /// Nanoseconds between two looks whether the name still leads to the open file, and between two
    /// tries to rotate when that failed.
    static let checkAfter: Int64 = 1_000_000_000
    /// The smallest `maxBytes`: it bounds the rotations that one read can cause.
    static let smallestLimit: UInt64 = 4096

    enum State {
        /// Not open; the next byte opens it.
        case closed
        /// Open.
        case open(OpenLog)
        /// It failed; not tried again before `retryAt` on the monotonic clock.
        case failing(SystemError, retryAt: Int64)
    }

    /// A log at `path`, not opened before there is output.
    init(_ path: String, maxBytes: UInt64, keptFiles: Int, report: @escaping (Event) -> Void) {
        self.path = path
        self.maxBytes = max(maxBytes, Self.smallestLimit)
        self.keptFiles = max(keptFiles, 0)
        self.report = report
    }

    /// Whether it holds descriptors.
    var isOpen: Bool {
        switch state {
        case .open: true
        case .closed, .failing: false
        }
    }

    /// Why bytes are being lost, if they are.
    var trouble: SystemError? {
        switch state {
        case .failing(let error, _): error
        case .closed, .open: nil
        }
    }

    /// Gives the descriptors back; the next byte opens the file again.
    func release() {
        switch state {
        case .open: state = .closed
        case .closed, .failing: break
        }
    }

    /// Writes `bytes`, rotating where they reach the limit.
    /// - Returns: how many of them were lost; `trouble` then says why.
    func append(_ bytes: Span<UInt8>, _ mark: OutputMark) -> Int {
        var done = 0
        while done < bytes.count, let log = usable(at: mark.stamp.monotonic) {
            let rest = bytes.extracting(done..<bytes.count)
            let length = log.fitting(rest, limit: limit(of: log, at: mark.stamp.monotonic))
            if length == 0 {
                makeRoom(in: log, at: mark.stamp.monotonic)
                continue
            }
            writeIndex(log) { (index: LogIndex) throws(SystemError) in
                if lost > 0 { try index.noteLoss(of: lost, mark, at: log.size) }
                try index.note(mark, at: log.size)
            }
            lost = 0
            let (count, code) = FileCalls.write(
                rest.extracting(first: length), to: log.descriptor.number)
            log.size += UInt64(count)
            done += count
            if let code {
                fail(SystemError("write", log.target, code: code), mark.stamp.monotonic)
            }
        }
        lost += UInt64(bytes.count - done)
        return bytes.count - done
    }

    /// Records that a stream ended, if the log is open: an ended stream of a log that was released
    /// or fails ends, for readers, where the next incarnation begins.
    func end(_ mark: OutputMark) {
        guard case .open(let log) = state else { return }
        writeIndex(log) { (index: LogIndex) throws(SystemError) in
            try index.noteEnd(mark, at: log.size)
        }
    }

    private func fail(_ error: SystemError, _ now: Int64) {
        state = .failing(error, retryAt: now + Self.retryAfter)
    }

    /// The open log, opened or checked first where that is due.
    private func usable(at now: Int64) -> OpenLog? {
        switch state {
        case .open(let log) where now < log.checkAt: return log
        case .open(let log): verify(log, now)
        case .failing(_, let retryAt) where now < retryAt: return nil
        case .closed, .failing: break
        }
        switch state {
        case .open(let log): return log
        case .closed, .failing: return open(now)
        }
    }

    private func open(_ now: Int64) -> OpenLog? {
        do throws(SystemError) {
            let log = try OpenLog(path)
            log.checkAt = now + Self.checkAfter
            state = .open(log)
            openIndex(of: log)
            return log
        } catch {
            fail(error, now)
            return nil
        }
    }

    private func openIndex(of log: OpenLog) {
        guard log.isRegular else { return }
        do throws(SystemError) {
            log.index = try LogIndex(of: log.target, logSize: log.size)
        } catch {
            report(.indexFailed(error))
        }
    }

    /// Runs `body` on the index, which is given up until the next check when that fails. An index
    /// may not outgrow the limit of the log either: beyond, only a rotation helps.
    private func writeIndex(
        _ log: OpenLog, _ body: (LogIndex) throws(SystemError) -> Void
    ) {
        guard let index = log.index, index.size < 2 * maxBytes else { return }
        do throws(SystemError) { try body(index) } catch {
            log.index = nil
            report(.indexFailed(error))
        }
    }

    /// Looks whether the name still leads to the open file, and whether somebody cut the file.
    private func verify(_ log: OpenLog, _ now: Int64) {
        log.checkAt = now + Self.checkAfter
        do throws(SystemError) {
            guard let facts = try FileCalls.facts(at: path), facts.identity == log.identity else {
                state = .closed
                return report(.reopened)
            }
            guard log.isRegular else { return }
            if facts.size < log.size { try log.index?.restart() }
            log.size = facts.size
            if try log.indexIsGone() { openIndex(of: log) }
        } catch {
            log.index = nil
            report(.indexFailed(error))
        }
    }

    /// How long the open file may become now.
    private func limit(of log: OpenLog, at now: Int64) -> UInt64 {
        guard let until = log.rotationBlockedUntil, now < until else {
            return log.indexSize + UInt64(IndexRecord.size) > maxBytes ? 0 : maxBytes
        }
        return 2 * maxBytes
    }

    /// Each call rotates, or gives the file twice its length for a while, or empties it: after two
    /// there is room.
    private func makeRoom(in log: OpenLog, at now: Int64) {
        if let until = log.rotationBlockedUntil, now < until { return empty(log, now) }
        do throws(SystemError) { try rotate(log) } catch {
            log.rotationBlockedUntil = now + Self.checkAfter
            report(.rotationFailed(error))
        }
    }

    private func rotate(_ log: OpenLog) throws(SystemError) {
        guard try FileCalls.facts(at: path)?.identity == log.identity else {
            state = .closed
            return report(.reopened)
        }
        let chain = LogChain(target: log.target)
        let leftBehind = try chain.rotate(keeping: keptFiles)
        state = .closed
        if let leftBehind { report(.rotationFailed(leftBehind)) }
    }

    /// The last resort against a disk that fills because rotation is impossible.
    private func empty(_ log: OpenLog, _ now: Int64) {
        do throws(SystemError) {
            try FileCalls.truncate(log.descriptor.number, to: 0, named: log.target)
        } catch { return fail(error, now) }
        report(.emptied(bytes: log.size))
        log.size = 0
        writeIndex(log) { (index: LogIndex) throws(SystemError) in try index.restart() }
    }
}
