import Stoic

internal import EventLoop

/// The descriptors of a log that is open for writing, and what is known about it.
final class OpenLog {
    /// The name of the file itself, links resolved: rotated files and the index are beside it.
    let target: String
    /// Open for appending.
    let descriptor: OwnedDescriptor
    /// What the name led to when it was opened.
    let identity: FileIdentity
    /// Whether it is a file, and not a device or a FIFO.
    let isRegular: Bool
    /// How long the file is: where the next byte goes.
    var size: UInt64
    /// The index, unless it fails or the log is no file.
    var index: LogIndex?
    /// When to look at the name again, on the monotonic clock.
    var checkAt: Int64 = 0
    /// Until when no rotation is tried, after one failed.
    var rotationBlockedUntil: Int64?

    init(_ path: String) throws(SystemError) {
        descriptor = try FileCalls.openAppending(path)
        target = FileCalls.resolved(path)
        let facts = try FileCalls.facts(of: descriptor.number, named: path)
        identity = facts.identity
        isRegular = facts.kind == .regular
        size = isRegular ? facts.size : 0
    }

    /// How long the index is; 0 without one.
    var indexSize: UInt64 { index?.size ?? 0 }

    /// Whether there should be an index, and there is none.
    func indexIsGone() throws(SystemError) -> Bool {
        guard isRegular else { return false }
        return try index?.isGone() ?? true
    }

    /// How many of `bytes` may go into this file before it is rotated: all, or whole lines, or,
    /// where a line alone is longer than the limit, a part of it.
    func fitting(_ bytes: Span<UInt8>, limit: UInt64) -> Int {
        guard isRegular else { return bytes.count }
        guard size < limit else { return 0 }
        let room = Int(clamping: limit - size)
        if bytes.count <= room { return bytes.count }
        if let newline = bytes.extracting(first: room).lastNewline { return newline + 1 }
        return size == 0 ? room : 0
    }
}
