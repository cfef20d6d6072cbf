internal import EventLoop
internal import Glibc
internal import Manifest
internal import Stoic

/// Reads one pipe of one incarnation into the log of its service. It never waits, and never lets
/// the service wait for longer than a turn: what comes out of the pipe is taken whatever happens to
/// it afterwards.
///
/// The end of the stream and the exit of the process are two events: neither waits for the other.
/// At the end of the stream everything is closed by itself; at the exit the owner calls `drain`,
/// then `finish`.
final class PipeCapture {
    /// Whose launch.
    let incarnation: Incarnation
    /// Which of its descriptors.
    let stream: OutputStream
    /// Sees the bytes of each read, after they were logged: readiness by log. The span is valid
    /// during the call only.
    var onBytes: ((Span<UInt8>) -> Void)?

    private let log: ServiceLog
    private let store: OutputStore
    private var state = State.closed
    private var assembler: LineAssembler?
    private var isMidLine = false

    private enum State {
        case open(Pipe)
        case closed
    }

    private final class Pipe {
        let descriptor: OwnedDescriptor
        var watch: Watch?
        init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }
        deinit { watch?.close() }
    }

    private enum ReadResult { case filled, drained, ended }

    /// Reads of one turn; then the other services have theirs. What is left stays in the pipe, and
    /// the loop comes back to it.
    static let readsPerTurn = 4

    /// Starts reading. `log` came from `store`.
    /// - Throws: what libuv says of a descriptor it cannot watch; the descriptor is closed then.
    init(
        _ loop: Loop, descriptor: consuming OwnedDescriptor, log: ServiceLog,
        incarnation: Incarnation, stream: OutputStream
    ) throws(UVError) {
        self.incarnation = incarnation
        self.stream = stream
        self.log = log
        store = log.owner
        let pipe = Pipe(descriptor)
        pipe.watch = try Watch(loop, descriptor: pipe.descriptor.number, interest: .readable) {
            [unowned self] _ in self.isReadable()
        }
        state = .open(pipe)
    }

    /// Whether the stream is still open.
    var isOpen: Bool {
        switch state {
        case .open: true
        case .closed: false
        }
    }

    /// Takes what is in the pipe now, at most about `limit` bytes (in steps of a read). Whoever
    /// else holds the other end may go on writing: this does not wait for the end of the stream.
    func drain(limit: Int) {
        var left = limit
        while left > 0, case .open(let pipe) = state {
            left -= OutputStore.readLength
            switch read(pipe) {
            case .filled: continue
            case .drained: return
            case .ended: return finish()
            }
        }
    }

    /// The incarnation is over: flushes a last line without newline, records the end and closes.
    /// Idempotent.
    func finish() {
        guard case .open(let pipe) = state else { return }
        var left: Int32 = 0
        // SAFETY: `FIONREAD` fills one number of 32 bits.
        let asked = unsafe ioctl(pipe.descriptor.number, UInt(FIONREAD), &left)
        if asked == 0, left > 0 { log.send(.leftInPipe(bytes: UInt64(left))) }
        assembler?.finish(store.emit)
        assembler = nil
        log.end(OutputMark(stamp: store.clock.now(), incarnation: incarnation, stream: stream))
        close()
    }

    /// Closes without a word: the last line, if it has no newline, is left to the views of the
    /// file. Idempotent.
    func close() {
        guard case .open(let pipe) = state else { return }
        pipe.watch?.close()
        pipe.watch = nil
        state = .closed
        onBytes = nil
    }

    deinit { close() }

    private func isReadable() {
        for _ in 0..<Self.readsPerTurn {
            guard case .open(let pipe) = state else { return }
            switch read(pipe) {
            case .filled: continue
            case .drained: return
            case .ended: return finish()
            }
        }
    }

    private func read(_ pipe: Pipe) -> ReadResult {
        var buffer = store.borrowBuffer()
        defer { store.giveBack(buffer) }
        let descriptor = pipe.descriptor.number
        // SAFETY: `read` is told how much room there is, within the closure.
        let count = unsafe buffer.withUnsafeMutableBytes {
            unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
        }
        if count > 0 {
            take(buffer.span.extracting(first: count))
            return count == buffer.count ? .filled : .drained
        }
        if count == 0 { return .ended }
        switch errno {
        case EAGAIN: return .drained
        case EINTR: return .filled
        case let code:
            log.send(.unreadable(SystemError("read", "the pipe of \(stream.name)", code: code)))
            return .ended
        }
    }

    private func take(_ bytes: Span<UInt8>) {
        let mark = OutputMark(stamp: store.clock.now(), incarnation: incarnation, stream: stream)
        log.append(bytes, mark, midLine: isMidLine)
        if store.wantsLines {
            var lines =
                assembler
                ?? LineAssembler(
                    log.service, incarnation, stream, limit: log.definition.maxLineBytes,
                    midLine: isMidLine)
            assembler = nil
            lines.feed(bytes, wall: mark.stamp.wall, store.emit)
            assembler = lines
        } else if assembler != nil {
            assembler = nil
        }
        isMidLine = bytes[bytes.count - 1] != UInt8(ascii: "\n")
        onBytes?(bytes)
    }
}
