public import Stoic

internal import EventLoop
internal import Glibc

/// What a journal's file holds.
public struct JournalContents: Sendable {
    /// The latest records, oldest first.
    public var records: [EventRecord] = []
    /// Lines that are no record: torn by a crash or a full disk.
    public var unreadable = 0

    /// Nothing.
    public init() {}
}

extension EventJournal {
    /// Reads the records of a journal back, the file put aside first. A file that is missing holds
    /// none; a torn line is counted and costs only itself.
    /// - Parameter limit: no more records than this are kept, the latest. Default 65,536.
    public static func read(_ file: String, last limit: Int = 1 << 16) throws(SystemError)
        -> JournalContents
    {
        var contents = JournalContents()
        for path in [file + ".1", file] {
            guard let descriptor = try FileCalls.openReading(path) else { continue }
            try read(descriptor.number, path, limit, into: &contents)
        }
        contents.records.removeFirst(max(0, contents.records.count - max(limit, 0)))
        return contents
    }

    /// The longest line that is taken for a record; a record of ours is far shorter.
    private static let longestLine = 1 << 20

    private static func read(
        _ descriptor: Int32, _ path: String, _ limit: Int, into contents: inout JournalContents
    ) throws(SystemError) {
        var line: [UInt8] = []
        var offset: UInt64 = 0
        while true {
            let block = try FileCalls.read(
                descriptor, at: offset, limit: OutputStore.readLength, named: path)
            if block.isEmpty { break }
            offset += UInt64(block.count)
            for piece in block.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast() {
                line += piece
                contents.take(line, limit)
                line = []
            }
            let rest = block.suffix { $0 != 0x0A }
            if line.count + rest.count <= longestLine { line += rest }
        }
        contents.take(line, limit)
    }
}

extension JournalContents {
    fileprivate mutating func take(_ line: [UInt8], _ limit: Int) {
        guard !line.isEmpty else { return }
        guard let record = EventRecord(json: line) else {
            unreadable += 1
            return
        }
        records.append(record)
        if records.count / 2 > max(limit, 1024) { records.removeFirst(records.count - limit) }
    }
}

extension Array {
    /// The longest end of which every element is as asked.
    fileprivate func suffix(while holds: (Element) -> Bool) -> ArraySlice<Element> {
        var start = endIndex
        while start > startIndex, holds(self[start - 1]) { start -= 1 }
        return self[start...]
    }
}
