import Stoic

internal import EventLoop
internal import Glibc

/// One file of a log that is open for reading, and the place reached in it. It stays readable while
/// the file is renamed or removed.
final class ReadLog {
    /// The name it was opened by.
    let path: String
    let descriptor: OwnedDescriptor
    let identity: FileIdentity
    /// Where to read next.
    var offset: UInt64 = 0
    /// Whose the next byte is.
    var mark: IndexRecord
    private(set) var index: IndexCursor?

    /// Tries to open a log and the index that belongs to it, while a writer may be rotating both.
    private static let tries = 3

    /// Opens a file of a log; `nil` when there is none.
    /// - Throws: also `ESPIPE` for a name that leads to something that is no regular file.
    static func open(_ path: String) throws(SystemError) -> ReadLog? {
        for attempt in 1...tries {
            guard let log = try ReadLog(path) else { return nil }
            let isSame = try FileCalls.facts(at: path)?.identity == log.identity
            if isSame, log.index != nil || attempt == tries { return log }
        }
        return nil
    }

    private init?(_ path: String) throws(SystemError) {
        guard let opened = try FileCalls.openReading(path) else { return nil }
        descriptor = opened
        self.path = path
        mark = IndexRecord(.bytes, at: 0, .unknown, nil, .combined)
        let facts = try FileCalls.facts(of: descriptor.number, named: path)
        identity = facts.identity
        guard facts.kind == .regular else { throw SystemError("read", path, code: ESPIPE) }
        index = try IndexCursor(of: path)
    }

    /// How long it is now.
    func size() throws(SystemError) -> UInt64 {
        try FileCalls.facts(of: descriptor.number, named: path).size
    }

    /// Goes to a place in it.
    func seek(to offset: UInt64) throws(SystemError) {
        self.offset = offset
        mark = IndexRecord(.bytes, at: 0, .unknown, nil, .combined)
        try index?.seek(to: offset)
    }

    /// Looks for an index that was not there when the file was opened.
    func findIndex() throws(SystemError) {
        guard index == nil, try FileCalls.facts(at: path)?.identity == identity else { return }
        index = try IndexCursor(of: path)
    }

    /// The byte before `offset`; `nil` at the beginning.
    func byteBefore(_ offset: UInt64) throws(SystemError) -> UInt8? {
        guard offset > 0 else { return nil }
        return try FileCalls.read(descriptor.number, at: offset - 1, limit: 1, named: path).first
    }

    /// Counts newlines from the end backwards.
    /// - Returns: the offset after the newline that has `count` others after it, or `nil` and how
    ///   many newlines there are when there are no more than that.
    func offset(
        before count: Int
    ) throws(SystemError) -> (offset: UInt64?, newlines: Int) {
        var end = try size()
        var seen = 0
        while end > 0 {
            let start = end - min(end, UInt64(OutputStore.readLength))
            let block = try FileCalls.read(
                descriptor.number, at: start, limit: Int(end - start), named: path)
            let places = Self.newlines(in: block)
            if count - seen < places.count {
                let place = places[places.count - 1 - (count - seen)]
                return (start + UInt64(place) + 1, count)
            }
            seen += places.count
            end = start
        }
        return (nil, seen)
    }

    /// Where newlines are, found by the system's search: a line may have many megabytes.
    private static func newlines(in block: [UInt8]) -> [Int] {
        var places: [Int] = []
        var start = 0
        while let place = block.span.firstNewline(from: start) {
            places.append(place)
            start = place + 1
        }
        return places
    }
}
