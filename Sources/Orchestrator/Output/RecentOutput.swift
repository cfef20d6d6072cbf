internal import Stoic

/// The latest output of one service in memory, as it came: what a failed start shows, even when
/// the disk is full. Nothing is decoded before somebody asks.
///
/// It counts what it costs, and gives up its oldest part when told; who tells it is `OutputStore`,
/// which bounds the sum over all services.
struct RecentOutput {
    /// What came in one piece, or close together.
    private struct Part {
        var mark: OutputMark
        /// Bytes between the part before and this one are not held.
        var followsGap = false
        var startsMidLine: Bool
        var bytes: [UInt8]

        var cost: Int { bytes.count + RecentOutput.overhead }
    }

    /// Bytes and overhead held.
    private(set) var cost = 0
    private var parts: [Part] = []
    private var first = 0

    /// What a part is taken to cost beside its bytes.
    static let overhead = 96
    /// Of what came in one piece, no more than this is kept: enough to see, and cheap to copy.
    static let largestPart = 16 << 10
    /// Small pieces that come close together share a part up to this length.
    static let smallPart = 2 << 10

    /// Keeps a copy of the end of `bytes`.
    /// - Parameter midLine: the first of them does not start a line.
    mutating func append(_ bytes: Span<UInt8>, _ mark: OutputMark, midLine: Bool) {
        var tail = bytes
        var startsMidLine = midLine
        let isWhole = bytes.count <= Self.largestPart
        if !isWhole {
            tail = bytes.extracting(last: Self.largestPart)
            startsMidLine = true
            if let newline = tail.firstNewline(from: 0), newline + 1 < tail.count {
                tail = tail.extracting((newline + 1)..<tail.count)
                startsMidLine = false
            }
        }
        if let last = parts.last, joins(last, mark), isWhole,
            last.bytes.count + tail.count <= Self.smallPart
        {
            parts[parts.count - 1].bytes.append(contentsOf: tail)
            cost += tail.count
        } else {
            parts.append(
                Part(
                    mark: mark, followsGap: !isWhole, startsMidLine: startsMidLine,
                    bytes: Array(tail)))
            cost += tail.count + Self.overhead
        }
    }

    private func joins(_ part: Part, _ mark: OutputMark) -> Bool {
        part.mark.stream == mark.stream && part.mark.incarnation == mark.incarnation
            && mark.stamp.monotonic - part.mark.stamp.monotonic < LogIndex.resolution
    }

    /// Gives up its oldest part, or, when it is the only one, the older half of it.
    mutating func dropOldest() {
        guard first < parts.count else { return }
        if first == parts.count - 1 { return halveLast() }
        let gone = parts[first]
        parts[first].bytes = []
        first += 1
        cost -= gone.cost
        if gone.bytes.last != UInt8(ascii: "\n") { markContinuation(of: gone.mark) }
        if first > 64, first > parts.count / 2 {
            parts.removeFirst(first)
            first = 0
        }
    }

    private mutating func halveLast() {
        let last = parts.count - 1
        let count = parts[last].bytes.count
        guard count > 1 else {
            cost = 0
            parts = []
            first = 0
            return
        }
        let half = count - count / 2
        parts[last].startsMidLine = parts[last].bytes[half - 1] != UInt8(ascii: "\n")
        parts[last].bytes.removeFirst(half)
        cost -= half
    }

    /// The next part of the same stream lost the beginning of its first line.
    private mutating func markContinuation(of mark: OutputMark) {
        let heir = parts[first...].firstIndex {
            $0.mark.stream == mark.stream && $0.mark.incarnation == mark.incarnation
        }
        if let heir { parts[heir].startsMidLine = true }
    }

    /// The last `count` lines, oldest first.
    /// - Parameter incarnation: only of this launch, if given.
    /// - Complexity: O(bytes held).
    func lines(
        last count: Int, of service: ServiceName, _ incarnation: Incarnation?, limit: Int
    ) -> [LogLine] {
        var lines: [LogLine] = []
        var assemblers: [LineAssembler] = []
        for part in parts[first...] where incarnation.map({ $0 == part.mark.incarnation }) ?? true {
            let mark = part.mark
            for index in assemblers.indices where assemblers[index].incarnation != mark.incarnation
            {
                assemblers[index].finish { lines.append($0) }
            }
            assemblers.removeAll { $0.incarnation != mark.incarnation }
            if !assemblers.contains(where: { $0.stream == mark.stream }) {
                assemblers.append(
                    LineAssembler(service, mark.incarnation, mark.stream, limit: limit))
            }
            for index in assemblers.indices where assemblers[index].stream == mark.stream {
                if part.followsGap { assemblers[index].finish { lines.append($0) } }
                if part.startsMidLine { assemblers[index].startMidLine() }
                assemblers[index].feed(part.bytes.span, wall: mark.stamp.wall) { lines.append($0) }
            }
        }
        for index in assemblers.indices { assemblers[index].finish { lines.append($0) } }
        return Array(lines.suffix(max(count, 0)))
    }
}
