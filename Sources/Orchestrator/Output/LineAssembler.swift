internal import Glibc
internal import Stoic

/// Turns the chunks of one stream of one incarnation into lines: joins halves, decodes only whole
/// lines (so no chunk edge can cut a character), and keeps no more than `limit` bytes of a line.
struct LineAssembler {
    /// Who writes.
    let service: ServiceName
    /// Which launch writes; `nil` when unknown.
    let incarnation: Incarnation?
    /// Where it writes to.
    let stream: OutputStream
    /// How many bytes of a line are kept, without its newline; the rest is skipped, and the line
    /// marked as cut.
    let limit: Int

    private var phase: Phase
    private var kept: [UInt8] = []

    private enum Phase {
        /// The next byte starts a line.
        case betweenLines
        /// The next byte belongs to a line whose beginning was missed.
        case afterGap
        /// Bytes of a line were seen, but not its end.
        case inLine(wall: Int64, isContinued: Bool, isCut: Bool)
    }

    /// - Parameter midLine: the first byte to come is known not to start a line.
    init(
        _ service: ServiceName, _ incarnation: Incarnation?, _ stream: OutputStream, limit: Int,
        midLine: Bool = false
    ) {
        self.service = service
        self.incarnation = incarnation
        self.stream = stream
        self.limit = max(limit, 1)
        phase = midLine ? .afterGap : .betweenLines
    }

    /// Takes the next bytes and gives every line that they complete to `emit`, in order.
    mutating func feed(_ bytes: Span<UInt8>, wall: Int64, _ emit: (LogLine) -> Void) {
        var start = 0
        while start < bytes.count {
            guard let end = bytes.firstNewline(from: start) else {
                return take(bytes.extracting(start..<bytes.count), wall)
            }
            take(bytes.extracting(start..<end), wall)
            emit(endLine(isUnfinished: false))
            start = end + 1
        }
    }

    /// Bytes were lost here: what came before ends unfinished, what comes next has no beginning.
    mutating func gap(_ emit: (LogLine) -> Void) {
        finish(emit)
        phase = .afterGap
    }

    /// The next byte does not start a line, so if none is under way, its beginning was missed.
    mutating func startMidLine() {
        switch phase {
        case .betweenLines: phase = .afterGap
        case .afterGap, .inLine: break
        }
    }

    /// The stream ends here: a line without newline is a line of its own.
    mutating func finish(_ emit: (LogLine) -> Void) {
        switch phase {
        case .betweenLines, .afterGap: break
        case .inLine: emit(endLine(isUnfinished: true))
        }
        phase = .betweenLines
    }

    private mutating func take(_ bytes: Span<UInt8>, _ wall: Int64) {
        let room = limit - kept.count
        let overflows = bytes.count > room
        switch phase {
        case .betweenLines: phase = .inLine(wall: wall, isContinued: false, isCut: overflows)
        case .afterGap: phase = .inLine(wall: wall, isContinued: true, isCut: overflows)
        case .inLine(_, _, isCut: true): return
        case .inLine(let first, let isContinued, isCut: false):
            phase = .inLine(wall: first, isContinued: isContinued, isCut: overflows)
        }
        kept.append(contentsOf: bytes.extracting(first: room))
    }

    private mutating func endLine(isUnfinished: Bool) -> LogLine {
        guard case .inLine(let wall, let isContinued, let isCut) = phase else {
            preconditionFailure("a line ended that never began")
        }
        let dangling = isCut ? LenientUTF8.danglingLength(of: kept[...]) : 0
        let text = LenientUTF8.decode(kept.dropLast(dangling))
        kept.removeAll(keepingCapacity: kept.capacity <= 4096)
        phase = .betweenLines
        var line = LogLine(
            text, of: service, incarnation: incarnation, stream: stream, wall: wall)
        line.isCut = isCut
        line.isContinued = isContinued
        line.isUnfinished = isUnfinished
        return line
    }
}

extension Span where Element == UInt8 {
    /// The place of the first newline at or after `start`.
    func firstNewline(from start: Int) -> Int? {
        // SAFETY: `memchr` reads from a place inside of the bytes to their end, within the closure.
        unsafe withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, start < bytes.count else { return nil }
            let found = unsafe memchr(base + start, 0x0A, bytes.count - start)
            guard let found = unsafe found else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }

    /// The place of the last newline.
    var lastNewline: Int? {
        var index = count
        while index > 0 {
            index -= 1
            if self[index] == 0x0A { return index }
        }
        return nil
    }
}

extension Array where Element == UInt8 {
    /// Appends a copy of `bytes`.
    mutating func append(contentsOf bytes: Span<UInt8>) {
        // SAFETY: the bytes are copied within the closure.
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// A copy of `bytes`.
    init(_ bytes: Span<UInt8>) {
        // SAFETY: the bytes are copied within the closure.
        self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
    }
}
