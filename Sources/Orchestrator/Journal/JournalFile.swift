import Stoic

internal import EventLoop
internal import Glibc

/// The file behind a journal: whole lines, appended; the old file is kept once as `NAME.1`.
///
/// A line that cannot be written is lost and counted; nothing waits, nothing else fails. A name
/// that no longer leads to the open file (removed, replaced) is noticed within a second of writing.
struct JournalFile: ~Copyable {
    private let path: String
    private let maxBytes: UInt64
    private var state = State.closed

    /// Nanoseconds between two looks at the name, and between two tries to open what failed.
    private static let checkAfter: Int64 = 1_000_000_000

    private final class Opened {
        let descriptor: OwnedDescriptor
        let identity: FileIdentity
        var size: UInt64
        var checkAt: Int64
        /// Whether the file ends within a line, of a crash or a full disk.
        var isTorn: Bool

        init(_ path: String, now: Int64) throws(SystemError) {
            descriptor = try FileCalls.openAppending(path)
            let facts = try FileCalls.facts(of: descriptor.number, named: path)
            identity = facts.identity
            size = facts.kind == .regular ? facts.size : 0
            checkAt = now + JournalFile.checkAfter
            // A line that begins the file needs none; a spare newline elsewhere is no record.
            isTorn = size > 0
        }
    }

    private enum State {
        case closed
        case open(Opened)
        case failing(SystemError, retryAt: Int64)
    }

    init(_ path: String, maxBytes: UInt64) {
        self.path = path
        self.maxBytes = max(maxBytes, 4096)
    }

    /// Why the last lines were lost, if they were.
    var trouble: SystemError? {
        switch state {
        case .failing(let error, _): error
        case .closed, .open: nil
        }
    }

    /// Appends `lines`, each with its newline.
    /// - Returns: whether all of them are in the file.
    mutating func append(_ lines: [UInt8], now: Int64) -> Bool {
        if case .failing(_, let retryAt) = state, now < retryAt { return false }
        do throws(SystemError) {
            let file = try usable(now)
            if file.size > 0, file.size + UInt64(lines.count) > maxBytes {
                try FileCalls.rename(path, to: path + ".1")
                state = .closed
                try write(lines, to: usable(now))
            } else {
                try write(lines, to: file)
            }
            return true
        } catch {
            state = .failing(error, retryAt: now + Self.checkAfter)
            return false
        }
    }

    /// Gives the descriptor back.
    mutating func close() { state = .closed }

    private mutating func usable(_ now: Int64) throws(SystemError) -> Opened {
        if case .open(let file) = state {
            if now < file.checkAt { return file }
            file.checkAt = now + Self.checkAfter
            if try FileCalls.facts(at: path)?.identity == file.identity { return file }
        }
        let file = try Opened(path, now: now)
        state = .open(file)
        return file
    }

    private func write(_ lines: [UInt8], to file: Opened) throws(SystemError) {
        let bytes = file.isTorn ? [UInt8(ascii: "\n")] + lines : lines
        let (count, code) = FileCalls.write(bytes.span, to: file.descriptor.number)
        file.size += UInt64(count)
        file.isTorn = code != nil && count > 0
        if let code { throw SystemError("write", path, code: code) }
    }
}
