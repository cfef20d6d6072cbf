import Stoic

internal import EventLoop
internal import Glibc

/// Reads the index of a log in order, while its writer may still be adding to it.
final class IndexCursor {
    private let path: String
    private let descriptor: OwnedDescriptor
    private var position = UInt64(IndexRecord.size)
    private var block: [UInt8] = []
    private var used = 0

    /// Records read at a time.
    private static let blockLength = 400 * IndexRecord.size

    /// Opens the index of the log named `log`; `nil` when there is none, or it is none of ours.
    init?(of log: String) throws(SystemError) {
        let path = LogIndex.path(of: log)
        self.path = path
        guard let opened = try FileCalls.openReading(path) else { return nil }
        descriptor = opened
        let start = try FileCalls.read(
            descriptor.number, at: 0, limit: IndexRecord.size, named: path)
        if start != IndexRecord.header { return nil }
    }

    /// The next record; `nil` when there is none yet.
    func peek() throws(SystemError) -> IndexRecord? {
        if used + IndexRecord.size > block.count {
            block = try FileCalls.read(
                descriptor.number, at: position, limit: Self.blockLength, named: path)
            used = 0
        }
        guard used + IndexRecord.size <= block.count else { return nil }
        return IndexRecord(block[used..<(used + IndexRecord.size)])
    }

    /// Goes past the record that `peek` returned.
    func advance() {
        used += IndexRecord.size
        position += UInt64(IndexRecord.size)
    }

    /// Goes to the last record that says whose the byte at `offset` is, or to the first record.
    /// - Complexity: O(log n) reads.
    func seek(to offset: UInt64) throws(SystemError) {
        let length = UInt64(IndexRecord.size)
        let size = try FileCalls.facts(of: descriptor.number, named: path).size
        var low: UInt64 = 1
        var high = max(size / length, 1)
        while low < high {
            let middle = low + (high - low) / 2
            go(to: middle)
            if let record = try peek(), record.offset <= offset {
                low = middle + 1
            } else {
                high = middle
            }
        }
        // `low` is the first record beyond. Losses and ends say nothing about the bytes after them.
        while low > 1 {
            low -= 1
            go(to: low)
            if try peek()?.kind == .bytes { return }
        }
        go(to: 1)
    }

    /// Goes to the first record.
    func restart() { go(to: 1) }

    private func go(to record: UInt64) {
        position = record * UInt64(IndexRecord.size)
        block = []
        used = 0
    }
}
