internal import EventLoop
public import Stoic

/// Reads a service's log from its files, as lines: rotated files first where that is asked for,
/// then the current one, then what is added to it, over any number of rotations.
///
/// It needs no engine: `logs` uses it when nothing runs. It never waits; `next` returns nothing
/// when nothing is there yet. One line of at most `maxLineBytes` per stream and one block of 64 KiB
/// are held at a time.
public final class LogReader {
    /// Where reading starts.
    public enum Start: Hashable, Sendable {
        /// At the oldest byte of the oldest file that is kept.
        case beginning
        /// With what comes next.
        case end
        /// This many lines before the end; the last one may lack its newline.
        case last(Int)
        /// With the first bytes that were read at this time or later, in nanoseconds since 1970.
        /// Lines of times that are not known are left out.
        case since(Int64)
    }

    /// Set when nobody waits for what is read: a count of lines that may take long ends early.
    var stop: StopFlag?

    /// Where a log that did not exist yet is read from once it does.
    enum FirstFile {
        /// Nothing was there: from the oldest byte, even if it was rotated meanwhile.
        case oldest
        /// Older files were there, which are not to be read.
        case current
    }

    /// Whose log.
    public let service: ServiceName
    let path: String
    let maxLineBytes: Int
    var current: ReadLog?
    var whenItAppears = FirstFile.oldest
    var toSkip = 0
    private var assemblers: [LineAssembler] = []
    private var startsMidLine = false
    private var ready: [LogLine] = []
    private var firstReady = 0

    /// - Parameters:
    ///   - file: the log as it is named; it need not exist yet.
    ///   - maxLineBytes: longer lines are cut, with a mark. Default 16 KiB.
    public init(_ service: ServiceName, file: String, maxLineBytes: Int = 16 << 10) {
        self.service = service
        path = file
        self.maxLineBytes = maxLineBytes
    }

    /// The names of the log's files now.
    var chain: LogChain { LogChain(target: FileCalls.resolved(path)) }

    /// The lines that are there, oldest first, at most `limit`; none when all were read.
    ///
    /// A last line without newline is held back until it is complete; see `finish`.
    public func next(_ limit: Int = 1000) throws(SystemError) -> [LogLine] {
        while ready.count - firstReady - toSkip < limit {
            if current == nil { try openFirst() }
            guard let log = current else { break }
            try log.findIndex()
            if try readBlock(of: log) { continue }
            if try !moveOn(from: log) { break }
        }
        return take(limit)
    }

    /// The lines that are still incomplete, as they are: for a reader that will not come back.
    public func finish() -> [LogLine] {
        finish { _ in true }
        return take(.max)
    }

    /// Starts anew in this file at this offset, and forgets what was held back.
    func start(in log: ReadLog, at offset: UInt64) throws(SystemError) {
        try log.seek(to: offset)
        current = log
        assemblers = []
        ready = []
        firstReady = 0
        let before = try log.byteBefore(offset)
        startsMidLine = before != nil && before != UInt8(ascii: "\n")
    }

    private func openFirst() throws(SystemError) {
        switch whenItAppears {
        case .oldest: try seekBeginning()
        case .current:
            guard let log = try ReadLog.open(chain.file(0)) else { return }
            try start(in: log, at: 0)
        }
    }

    private func take(_ limit: Int) -> [LogLine] {
        let skipped = min(toSkip, ready.count - firstReady)
        firstReady += skipped
        toSkip -= skipped
        let end = firstReady + min(max(limit, 0), ready.count - firstReady)
        let lines = Array(ready[firstReady..<end])
        firstReady = end
        if firstReady == ready.count {
            ready = []
            firstReady = 0
        }
        return lines
    }

    /// Reads on to the next change of stream or incarnation, at most 64 KiB.
    /// - Returns: false at the end of the file.
    private func readBlock(of log: ReadLog) throws(SystemError) -> Bool {
        // The size comes first: an index record is written before its bytes, so everything within
        // this size has its record by the time the index is read.
        let size = try log.size()
        if size < log.offset { try restartTruncated(log) }
        while let record = try log.index?.peek(), record.offset <= log.offset {
            log.index?.advance()
            apply(record, to: log)
        }
        let change = try log.index?.peek()?.offset ?? size
        let end = min(size, change, log.offset + UInt64(OutputStore.readLength))
        guard end > log.offset else { return false }
        let bytes = try FileCalls.read(
            log.descriptor.number, at: log.offset, limit: Int(end - log.offset), named: log.path)
        guard !bytes.isEmpty else { return false }
        log.offset += UInt64(bytes.count)
        feed(bytes, log.mark)
        return true
    }

    private func restartTruncated(_ log: ReadLog) throws(SystemError) {
        finish { _ in true }
        log.offset = 0
        log.index?.restart()
    }

    private func apply(_ record: IndexRecord, to log: ReadLog) {
        switch record.kind {
        case .bytes:
            log.mark = record
            finish { $0.incarnation != record.incarnation }
        case .end:
            finish { $0.stream == record.stream && $0.incarnation == record.incarnation }
        case .lost:
            for index in assemblers.indices { assemblers[index].gap { ready.append($0) } }
        }
    }

    private func feed(_ bytes: [UInt8], _ mark: IndexRecord) {
        if !assemblers.contains(where: { $0.stream == mark.stream }) {
            assemblers.append(
                LineAssembler(
                    service, mark.incarnation, mark.stream, limit: maxLineBytes,
                    midLine: startsMidLine))
            startsMidLine = false
        }
        for index in assemblers.indices where assemblers[index].stream == mark.stream {
            assemblers[index].feed(bytes.span, wall: mark.stamp.wall) { ready.append($0) }
        }
    }

    private func finish(where isOver: (LineAssembler) -> Bool) {
        for index in assemblers.indices where isOver(assemblers[index]) {
            assemblers[index].finish { ready.append($0) }
        }
        assemblers.removeAll(where: isOver)
    }
}

// MARK: - Over rotations

extension LogReader {
    /// At the end of a file: goes on with the one that followed it, if it is no longer the current.
    /// - Returns: whether there may be more to read.
    private func moveOn(from log: ReadLog) throws(SystemError) -> Bool {
        let chain = self.chain
        guard let facts = try FileCalls.facts(at: chain.file(0)), facts.identity != log.identity
        else { return false }
        // It may have grown between the last read and the rotation.
        if try log.size() > log.offset { return true }
        guard let next = try successor(of: log, in: chain) else { return false }
        try next.seek(to: 0)
        current = next
        return true
    }

    /// The file after this one: the next newer of the chain. One that left the chain (it was
    /// removed, or we were very slow) is followed by the current one, and something may be missing
    /// between.
    private func successor(of log: ReadLog, in chain: LogChain) throws(SystemError) -> ReadLog? {
        for number in 1...LogChain.longest {
            guard let facts = try FileCalls.facts(at: chain.file(number)) else { break }
            guard facts.identity == log.identity else { continue }
            let next = try ReadLog.open(chain.file(number - 1))
            // Only if no rotation came between is it the right one; else the next call looks again.
            guard try FileCalls.facts(at: chain.file(number))?.identity == log.identity else {
                return nil
            }
            return next
        }
        finish { _ in true }
        return try ReadLog.open(chain.file(0))
    }
}
