public import Stoic

extension LogReader {
    /// Goes to a place in the log; `next` reads from there. A log that does not exist yet is read
    /// from its beginning once it does.
    /// - Complexity: `last` and `since` read what they go past.
    public func seek(_ start: Start) throws(SystemError) {
        current = nil
        toSkip = 0
        whenItAppears = .oldest
        switch start {
        case .beginning: try seekBeginning()
        case .end: try seekEnd()
        case .last(let count): try seekLast(max(count, 0))
        case .since(let wall): try seekTime(wall)
        }
    }

    private func seekEnd() throws(SystemError) {
        let chain = self.chain
        guard let log = try ReadLog.open(chain.file(0)) else {
            if try FileCalls.facts(at: chain.file(1)) != nil { whenItAppears = .current }
            return
        }
        try self.start(in: log, at: log.size())
    }

    func seekBeginning() throws(SystemError) {
        let chain = self.chain
        var oldest = try ReadLog.open(chain.file(0))
        for number in 1...LogChain.longest {
            guard let older = try ReadLog.open(chain.file(number)) else { break }
            oldest = older
        }
        if let oldest { try self.start(in: oldest, at: 0) }
    }

    /// Goes back by newlines, far enough, then counts lines forward: the two streams' halves and
    /// the unfinished lines of ended incarnations make one not the other.
    private func seekLast(_ count: Int) throws(SystemError) {
        guard count > 0 else { return try seekEnd() }
        let chain = self.chain
        var wanted = count.addingReportingOverflow(64).partialValue
        if wanted < count { wanted = .max }
        var found: (log: ReadLog, offset: UInt64)?
        for number in 0...LogChain.longest {
            guard let log = try ReadLog.open(chain.file(number)) else { break }
            let (offset, newlines) = try log.offset(before: wanted)
            found = (log, offset ?? 0)
            if offset != nil { break }
            wanted -= newlines
        }
        guard let (log, offset) = found else { return }
        toSkip = try max(0, lineCount(from: log, offset) - count)
        try self.start(in: log, at: offset)
    }

    /// The number of lines from here to the end, the last of which may lack its newline.
    private func lineCount(from log: ReadLog, _ offset: UInt64) throws(SystemError) -> Int {
        let counter = LogReader(service, file: path, maxLineBytes: maxLineBytes)
        try counter.start(in: log, at: offset)
        var count = 0
        while stop?.isSet != true {
            let lines = try counter.next()
            if lines.isEmpty { return count + counter.finish().count }
            count += lines.count
        }
        return count
    }

    /// Goes to the first record of that time or later in the oldest file that has one. A wall clock
    /// that was set back makes the answer an approximation.
    private func seekTime(_ wall: Int64) throws(SystemError) {
        let chain = self.chain
        var found: (log: ReadLog, offset: UInt64)?
        for number in 0...LogChain.longest {
            guard let log = try ReadLog.open(chain.file(number)), let index = log.index else {
                break
            }
            let isWhole = try index.peek().map { $0.stamp.wall >= wall } ?? true
            while let record = try index.peek(), record.stamp.wall < wall { index.advance() }
            if let record = try index.peek() { found = (log, record.offset) }
            if !isWhole { break }
        }
        guard let (log, offset) = found else { return try seekEnd() }
        try self.start(in: log, at: offset)
    }
}
