import Stoic

internal import EventLoop
internal import Glibc

/// The index beside an open log, from its writer's side. See `IndexRecord` for what is on disk.
final class LogIndex {
    /// Its name.
    let path: String
    /// Its length.
    private(set) var size: UInt64
    private let descriptor: OwnedDescriptor
    private var latest: IndexRecord?

    /// Bytes of one stream that arrive this close together share a record: it bounds the index of a
    /// service that writes byte by byte, and a log is not read at a finer resolution.
    static let resolution: Int64 = 1_000_000

    /// The index of the log at `path`.
    static func path(of log: String) -> String { log + ".index" }

    /// Opens or makes the index of a log that is `logSize` bytes long. One that does not fit the
    /// log (a crash or a stranger came between the two) starts anew: the bytes so far become
    /// unknown.
    init(of log: String, logSize: UInt64) throws(SystemError) {
        let path = Self.path(of: log)
        self.path = path
        descriptor = try FileCalls.open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC)
        size = try FileCalls.facts(of: descriptor.number, named: path).size
        if try !Self.fits(descriptor.number, size: size, logSize: logSize, path) {
            try restart()
        }
        let torn = size % UInt64(IndexRecord.size)
        if torn != 0 {
            size -= torn
            try FileCalls.truncate(descriptor.number, to: size, named: path)
        }
    }

    private static func fits(
        _ descriptor: Int32, size: UInt64, logSize: UInt64, _ path: String
    ) throws(SystemError) -> Bool {
        let length = UInt64(IndexRecord.size)
        let start = try FileCalls.read(descriptor, at: 0, limit: IndexRecord.size, named: path)
        guard start == IndexRecord.header else { return false }
        let records = size / length
        guard records > 1 else { return true }
        let place = (records - 1) * length
        let last = try FileCalls.read(descriptor, at: place, limit: IndexRecord.size, named: path)
        guard let record = IndexRecord(last[...]) else { return false }
        return record.offset <= logSize
    }

    /// Forgets every record.
    func restart() throws(SystemError) {
        latest = nil
        try FileCalls.truncate(descriptor.number, to: 0, named: path)
        size = 0
        try append(IndexRecord.header)
    }

    /// Says who wrote the bytes from `offset` on, unless the record before says the same.
    func note(_ mark: OutputMark, at offset: UInt64) throws(SystemError) {
        if let latest, latest.kind == .bytes, latest.stream == mark.stream,
            latest.incarnation == mark.incarnation,
            mark.stamp.monotonic - latest.stamp.monotonic < Self.resolution
        {
            return
        }
        try write(IndexRecord(.bytes, at: offset, mark))
    }

    /// Says that `count` bytes are missing at `offset`.
    func noteLoss(
        of count: UInt64, _ mark: OutputMark, at offset: UInt64
    ) throws(SystemError) {
        var record = IndexRecord(.lost, at: offset, mark)
        record.count = UInt32(clamping: count)
        try write(record)
    }

    /// Says that the stream of `mark` ended at `offset`.
    func noteEnd(_ mark: OutputMark, at offset: UInt64) throws(SystemError) {
        try write(IndexRecord(.end, at: offset, mark))
    }

    /// Whether somebody removed it.
    func isGone() throws(SystemError) -> Bool {
        try FileCalls.facts(of: descriptor.number, named: path).links == 0
    }

    private func write(_ record: IndexRecord) throws(SystemError) {
        try append(record.encoded)
        latest = record
    }

    private func append(_ bytes: [UInt8]) throws(SystemError) {
        let (count, code) = FileCalls.write(bytes.span, to: descriptor.number)
        size += UInt64(count)
        guard let code else { return }
        let before = size - UInt64(count)
        try FileCalls.truncate(descriptor.number, to: before, named: path)
        size = before
        throw SystemError("write", path, code: code)
    }
}
