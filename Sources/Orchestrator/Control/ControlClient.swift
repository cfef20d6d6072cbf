import EventLoop
import Glibc
import Stoic

/// Asks the engine that listens on a control socket. It blocks its thread, each step for at most as
/// long as its limit says; the command line uses it, the engine never.
public final class ControlClient {
    /// The socket.
    public let path: String
    /// How long each step may take.
    public var limits = Limits()
    /// While a request waits, this descriptor becoming readable ends it with `.interrupted`: the
    /// read end of a pipe that a signal handler writes to, say. Not owned.
    public var interruption: CInt?

    private var connection: Connection

    private enum Connection {
        /// Connected, and nothing was asked.
        case fresh(CInt)
        /// The next request connects.
        case none
    }

    /// How long each step may take.
    public struct Limits: Hashable, Sendable {
        /// For a connection, when the engine has many waiting; in whole seconds.
        public var connect = Duration.seconds(5)
        /// For the engine to take a whole request.
        public var send = Duration.seconds(10)
        /// From the request to the whole answer, or to the head of a stream.
        public var answer = Duration.seconds(10)
        /// Between two lines of a stream. For ever (a century) unless given: a stop is bounded by
        /// the engine, and who follows logs waits for them.
        public var line = Duration.century

        /// The documented defaults.
        public init() {}
    }

    /// A body, or a line of a stream, is at most this many bytes.
    static let bodyLimit = 64 << 20

    /// Connects.
    ///
    /// - Parameters:
    ///   - path: The socket.
    ///   - connectLimit: How long the engine may take when it has many waiting, in whole seconds.
    /// - Throws: `.nothingRuns` when nobody answers, `.notPermitted` when we may not ask,
    ///   `.foreign` when a file or another user's process has the path.
    public init(
        path: String, connectLimit: Duration = .seconds(5)
    ) throws(ControlClientError) {
        self.path = path
        limits.connect = connectLimit
        connection = .none
        connection = .fresh(try Self.connect(path, within: limits.connect))
    }

    deinit {
        switch connection {
        case .fresh(let descriptor): close(descriptor)
        case .none: break
        }
    }

    /// Asks, and waits for the whole answer. Of a stream, it returns the last line.
    ///
    /// - Parameters:
    ///   - method: `GET` or `POST`.
    ///   - path: The parts of the path, not encoded: `["v1", "services", name]`.
    ///   - query: The parameters, not encoded.
    ///   - body: The body, if any.
    /// - Returns: The answer, whatever its status; only 403 is thrown, as `.notPermitted`.
    public func request(
        _ method: String, _ path: [String],
        query: some Sequence<(key: String, value: String)> = [String: String](),
        body: JSONValue? = nil
    ) throws(ControlClientError) -> ControlResponse {
        let text = Self.text(method, path, query, body)
        return try exchange(text, lineLimit: limits.answer) { _ in }
    }

    /// Asks, and hands over each line of the answer as it comes.
    ///
    /// - Parameter onLine: Gets each line of a stream, the last one included.
    /// - Returns: The status and the last line; or the whole answer if it is no stream, as errors
    ///   are not.
    public func stream(
        _ method: String, _ path: [String],
        query: some Sequence<(key: String, value: String)> = [String: String](),
        onLine: (JSONValue) -> Void
    ) throws(ControlClientError) -> ControlResponse {
        try exchange(Self.text(method, path, query, nil), lineLimit: limits.line, onLine)
    }

    /// Asks with a body, and hands over each line of the answer as it comes.
    ///
    /// - Parameter onLine: Gets each line of a stream, the last one included.
    /// - Returns: The status and the last line; or the whole answer if it is no stream.
    public func stream(
        _ method: String, _ path: [String], body: JSONValue?, onLine: (JSONValue) -> Void
    ) throws(ControlClientError) -> ControlResponse {
        let text = Self.text(method, path, [String: String](), body)
        return try exchange(text, lineLimit: limits.line, onLine)
    }

    // MARK: - One exchange

    private func exchange(
        _ request: [UInt8], lineLimit: Duration, _ onLine: (JSONValue) -> Void
    ) throws(ControlClientError) -> ControlResponse {
        let descriptor: CInt
        switch connection {
        case .fresh(let number): descriptor = number
        case .none: descriptor = try Self.connect(path, within: limits.connect)
        }
        connection = .none
        defer { close(descriptor) }
        try send(request, to: descriptor)
        var reception = Reception(path: path)
        var deadline = awakeTime() + limits.answer
        var limit = limits.answer
        var step = "an answer"
        while !reception.isComplete {
            try wait(descriptor, for: POLLIN, until: deadline, step: step, limit: limit)
            try reception.read(from: descriptor, onLine)
            if reception.isStream {
                deadline = awakeTime() + lineLimit
                limit = lineLimit
                step = "the next line"
            }
        }
        return try reception.response()
    }

    /// An engine that turns us away answers without reading: then the send fails, and the answer
    /// is there all the same.
    private func send(_ request: [UInt8], to descriptor: CInt) throws(ControlClientError) {
        var queue = OutputQueue()
        queue.append(request)
        let deadline = awakeTime() + limits.send
        while true {
            switch queue.send(to: descriptor) {
            case .gone: return
            case .progress: if queue.isEmpty { return }
            }
            try wait(
                descriptor, for: POLLOUT, until: deadline, step: "room for the request",
                limit: limits.send)
        }
    }

    private func wait(
        _ descriptor: CInt, for events: CInt, until deadline: Duration,
        step: String, limit: Duration
    ) throws(ControlClientError) {
        while true {
            var requests = [pollfd(fd: descriptor, events: Int16(events), revents: 0)]
            if let interruption {
                requests.append(pollfd(fd: interruption, events: Int16(POLLIN), revents: 0))
            }
            let left = deadline - awakeTime()
            guard left > .zero else { throw .timedOut(waitingFor: step, after: limit) }
            // poll(2) takes at most 24 days at once; then it is asked again.
            let seconds = min(left.components.seconds, 2_000_000)
            let rest = left.components.attoseconds / 1_000_000_000_000_000
            // SAFETY: `poll` is told how many entries there are.
            let count = unsafe poll(
                &requests, nfds_t(requests.count), CInt(seconds * 1000 + rest) + 1)
            guard count >= 0 || errno == EINTR else { throw .system(.latest("poll", path)) }
            guard count > 0 else { continue }
            if requests.count > 1, requests[1].revents != 0 { throw .interrupted }
            if requests[0].revents != 0 { return }
        }
    }

    // MARK: - Connecting and asking

    private static func connect(
        _ path: String, within limit: Duration
    ) throws(ControlClientError) -> CInt {
        guard let descriptor = UnixSocket.make(isBlocking: true) else {
            throw .system(.latest("socket", path))
        }
        // A Unix socket waits in connect(2) while the engine's backlog is full; this bounds it.
        // (`struct timeval` is two machine words: seconds and microseconds.)
        var bound = [Int(limit.components.seconds), 0]
        let size = socklen_t(2 * MemoryLayout<Int>.size)
        // SAFETY: there are as many bytes as is told, and the kernel copies them.
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &bound, size)
        let code = UnixSocket.connect(descriptor, to: path)
        do throws(ControlClientError) {
            if code != 0 { throw failure(code, path, limit) }
            try checkOwner(of: descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func failure(
        _ code: CInt, _ path: String, _ limit: Duration
    ) -> ControlClientError {
        switch code {
        case ENOENT, ENOTDIR: return .nothingRuns(path: path)
        case ECONNREFUSED:
            // SAFETY: the path lives through the call, which fills a variable of the size it
            // expects.
            var status = stat()
            let isFile =
                unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFSOCK
            return isFile
                ? .foreign(path: path, reason: "it is no socket") : .nothingRuns(path: path)
        case EACCES, EPERM: return .notPermitted(path: path)
        case EPROTOTYPE: return .foreign(path: path, reason: "a socket of another type is there")
        case EAGAIN, EINPROGRESS: return .timedOut(waitingFor: "a connection", after: limit)
        case ENAMETOOLONG:
            return .pathTooLong(
                path: path, bytes: path.utf8.count, limit: ProjectDirectories.socketPathLimit)
        default: return .system(SystemError("connect", path, code: code))
        }
    }

    /// Whoever made a socket in our place would hear our commands, and answer what it likes.
    private static func checkOwner(
        of descriptor: CInt, _ path: String
    ) throws(ControlClientError) {
        guard let peer = UnixSocket.peer(of: descriptor) else {
            throw .system(.latest("getsockopt", path))
        }
        let user = geteuid()
        guard user == 0 || peer.uid == user || peer.uid == 0 else {
            throw .foreign(path: path, reason: "\(peer) listens there, not an engine of ours")
        }
    }
}

extension ControlClient {
    /// The bytes of a request. The connection carries no other one.
    fileprivate static func text(
        _ method: String, _ path: [String], _ query: some Sequence<(key: String, value: String)>,
        _ body: JSONValue?
    ) -> [UInt8] {
        let parts = path.map { "/\(PercentCoding.encode($0))" }.joined()
        let pairs = query.map { pair in
            "\(PercentCoding.encode(pair.key))=\(PercentCoding.encode(pair.value))"
        }
        let target = parts + (pairs.isEmpty ? "" : "?\(pairs.joined(separator: "&"))")
        var head = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        let content = body?.bytes ?? []
        if body != nil { head += "Content-Type: application/json\r\n" }
        if method != "GET" || body != nil { head += "Content-Length: \(content.count)\r\n" }
        return Array("\(head)\r\n".utf8) + content
    }
}

/// An answer while it comes in.
private struct Reception {
    private let path: String
    private let reader = HTTPReader(.responses, bodyLimit: ControlClient.bodyLimit)
    private var input: [UInt8] = []
    private var pending: [UInt8] = []
    private var last: JSONValue?

    init(path: String) { self.path = path }

    var isComplete: Bool { reader.progress == .complete }

    /// Whether its lines are handed over one by one.
    var isStream: Bool {
        switch reader.progress {
        case .idle, .head: false
        case .body, .complete:
            reader.header("content-type")?.hasPrefix("application/x-ndjson") == true
        }
    }

    mutating func read(
        from descriptor: CInt, _ onLine: (JSONValue) -> Void
    ) throws(ControlClientError) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = retryingInterrupts {
            // SAFETY: the call is told how much room the array has.
            unsafe recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        }
        if count < 0 {
            if errno == EAGAIN { return }
            throw errno == ECONNRESET
                ? .disconnected(path: path) : .system(.latest("recv", path))
        }
        input += buffer[..<count]
        try parse(isEnd: count == 0)
        if isStream { try takeLines(onLine) }
        if count == 0, !isComplete { throw .disconnected(path: path) }
    }

    private mutating func parse(isEnd: Bool) throws(ControlClientError) {
        do {
            repeat {
                input.removeFirst(try reader.feed(input[...]))
                // An interim answer announces another one.
                if isComplete, reader.status < 200 { reader.next() }
            } while !input.isEmpty && !isComplete
        } catch {
            if isEnd { throw .disconnected(path: path) }
            throw .foreign(path: path, reason: "what answers there speaks no HTTP (\(error))")
        }
    }

    /// Looks only at what is new for the ends of lines.
    private mutating func takeLines(_ onLine: (JSONValue) -> Void) throws(ControlClientError) {
        var rest = reader.takeBody()[...]
        while let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
            pending += rest[..<newline]
            rest = rest[(newline + 1)...]
            let line = try parsed(pending)
            pending = []
            last = line
            onLine(line)
        }
        pending += rest
        guard pending.count <= ControlClient.bodyLimit else {
            throw .foreign(
                path: path, reason: "a line is longer than \(ControlClient.bodyLimit) bytes")
        }
    }

    mutating func response() throws(ControlClientError) -> ControlResponse {
        if reader.status == 403 { throw .notPermitted(path: path) }
        if isStream { return ControlResponse(status: reader.status, body: last) }
        let content = reader.takeBody()
        let body = content.isEmpty ? nil : try parsed(content)
        return ControlResponse(status: reader.status, body: body)
    }

    private func parsed(_ text: [UInt8]) throws(ControlClientError) -> JSONValue {
        do { return try JSONValue(parsing: text) } catch {
            throw .foreign(path: path, reason: "what answers there speaks no JSON (\(error))")
        }
    }
}
