public import EventLoop
import Glibc
import Stoic

/// Serves the control API: HTTP/1.1 with JSON over a Unix socket, for processes of our user and of
/// root.
///
/// It belongs to the loop's thread and never blocks it, except for a bounded moment in `close()`.
/// Nothing a client does costs more than the bounds in `ControlLimits`, and nothing it does raises
/// a signal.
public final class ControlServer {
    /// Where it listens.
    public let path: String
    /// Makes the socket's directory, before the socket is made again after it was removed.
    public var makeDirectory: (() throws(ProjectError) -> Void)?

    let limits: ControlLimits
    /// Tells what happened beside the answers.
    let report: (ControlNotice) -> Void
    private let loop: Loop
    private weak var handler: (any ControlHandler)?
    private var listener: ControlListener?
    private var watch: Watch?
    private var socketGuard: SocketGuard?
    private var alarms: Alarms<AlarmName>?
    private var connections: [UInt64: ControlConnection] = [:]
    private var lastNumber: UInt64 = 0
    /// Whether the socket was removed and could not be made again so far.
    private var isLost = false
    private var reserve: [CInt] = []
    private var buffer: [UInt8]

    private enum AlarmName: Hashable {
        case connection(UInt64)
        case accept
        case restore
    }

    /// Takes the path, and begins to serve it. Only the holder of the project's lock may.
    ///
    /// - Parameters:
    ///   - loop: The loop it lives on, until `close()`.
    ///   - path: The socket; its directory has to exist and to be closed to others.
    ///   - handler: Answers the requests; not kept alive.
    ///   - report: Hears of refused clients, lost lines, a removed socket.
    /// - Throws: when the path is too long, is not ours to take, or cannot be bound.
    public convenience init(
        _ loop: Loop, path: String, handler: any ControlHandler,
        report: @escaping (ControlNotice) -> Void
    ) throws(ControlError) {
        try self.init(
            loop, path: path, handler: handler, limits: ControlLimits(), report: report)
    }

    init(
        _ loop: Loop, path: String, handler: any ControlHandler, limits: ControlLimits,
        report: @escaping (ControlNotice) -> Void
    ) throws(ControlError) {
        self.loop = loop
        self.path = path
        self.handler = handler
        self.limits = limits
        self.report = report
        buffer = [UInt8](repeating: 0, count: limits.readPerTurn)
        do {
            alarms = try Alarms(loop, clock: .awake) { [weak self] in self?.ring($0) }
        } catch { throw .system(path: path, SystemError(error.call, path, code: -error.code)) }
        try listen()
        refillReserve()
    }

    /// How many clients are connected.
    public var connectionCount: Int { connections.count }

    /// Makes the socket again if it was removed. It notices that by itself a moment later; call
    /// this when you know already.
    ///
    /// - Returns: Whether it had been removed.
    @discardableResult
    public func ensureListening() throws(ControlError) -> Bool {
        guard alarms != nil, listener?.isInPlace != true else { return false }
        if let makeDirectory {
            do { try makeDirectory() } catch { throw .noDirectory(path: path, error) }
        }
        try listen()
        return true
    }

    /// Ends every answer, gives all clients together half a second to take what is left, and
    /// removes the socket. Again: nothing.
    public func close() {
        guard alarms != nil else { return }
        stopListening()
        for connection in sortedConnections { connection.sayFarewell() }
        flushAll()
        for connection in sortedConnections { connection.close() }
        alarms?.close()
        alarms = nil
        for number in reserve { Glibc.close(number) }
        reserve = []
    }

    deinit {
        watch?.close()
        for number in reserve { Glibc.close(number) }
    }

    // MARK: - The socket

    private func listen() throws(ControlError) {
        stopListening()
        let listener = try ControlListener(path: path)
        let descriptor = listener.descriptor
        do {
            watch = try Watch(loop, descriptor: descriptor, interest: .readable) { [weak self] _ in
                self?.acceptAll()
            }
        } catch { throw .system(path: path, SystemError(error.call, path, code: -error.code)) }
        self.listener = consume listener
        let directory = path.split(separator: "/").dropLast().joined(separator: "/")
        do {
            socketGuard = try SocketGuard(loop, directory: "/\(directory)") { [weak self] in
                self?.checkPlace()
            }
        } catch { report(.cannotGuard(error)) }
    }

    /// The watch first: libuv would not notice that its descriptor is closed.
    private func stopListening() {
        socketGuard = nil
        watch?.close()
        watch = nil
        listener = nil
    }

    /// Something was removed. Whoever removes our directory is let finish before it is made again.
    private func checkPlace() {
        if listener?.isInPlace != true { alarms?.arm(.restore, after: .milliseconds(100)) }
    }

    /// Without a socket nobody can ask us to end: what failed is tried again, and told once.
    private func restore() {
        do {
            if try ensureListening() { report(.socketRestored(path: path)) }
            isLost = false
        } catch {
            // Its place may come back: a runtime directory that is made anew at a login.
            if !isLost { report(.socketLost(error)) }
            isLost = true
            alarms?.arm(.restore, after: limits.restorePause)
        }
    }

    private func ring(_ name: AlarmName) {
        switch name {
        case .connection(let number): connections[number]?.timeRanOut()
        case .accept: watch?.change(to: .readable)
        case .restore: restore()
        }
    }

    // MARK: - New connections

    private func acceptAll() {
        for _ in 0..<limits.acceptedPerTurn {
            guard let listening = listener?.descriptor else { return }
            let number = accept(listening, nil, nil)
            if number >= 0 {
                admit(number)
                continue
            }
            switch errno {
            case EAGAIN: return
            case EINTR, ECONNABORTED: continue
            case EMFILE, ENFILE:
                // It says so even when nobody is left to accept.
                guard isReadable(listening) else { return }
                // With a descriptor that was held back, somebody can still ask what goes on.
                guard let spare = reserve.popLast() else { return pauseAccepting() }
                Glibc.close(spare)
            default: return pauseAccepting()
            }
        }
    }

    /// The connection stays in the backlog; asking again at once would turn the loop for ever.
    private func pauseAccepting() {
        report(.cannotAccept(.latest("accept", path)))
        watch?.change(to: [])
        alarms?.arm(.accept, after: limits.acceptPause)
    }

    private func isReadable(_ descriptor: CInt) -> Bool {
        // SAFETY: `poll` gets one entry, and keeps no pointer to it.
        var status = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&status, 1, 0) > 0
    }

    /// A launch on another thread may see the descriptor before it is marked; children close all
    /// that they were not given.
    private func admit(_ number: CInt) {
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        guard let peer = UnixSocket.peer(of: number) else {
            Glibc.close(number)
            return
        }
        guard peer.uid == geteuid() || peer.uid == 0 else {
            report(.peerRefused(peer))
            return turnAway(
                number, 403, "notPermitted", "uid \(peer.uid) may not control this engine")
        }
        if connections.count >= limits.connections { makeRoom() }
        guard connections.count < limits.connections else {
            report(.connectionRefused(peer, limit: limits.connections))
            return turnAway(
                number, 503, "busy", "all \(limits.connections) control connections are in use")
        }
        lastNumber += 1
        let connection = ControlConnection(number, number: lastNumber, peer: peer, of: self)
        connections[lastNumber] = connection
        do { try connection.open(on: loop) } catch {
            report(.cannotAccept(SystemError(error.call, path, code: -error.code)))
            connection.close()
        }
    }

    /// A client that only keeps its connection for later can connect again. Without one, the
    /// follower goes that has taken nothing for the longest time: a terminal that was stopped must
    /// not keep anybody from stopping the project.
    private func makeRoom() {
        if let idle = sortedConnections.first(where: \.isIdle) { return idle.close() }
        let stuck = sortedConnections.max { ($0.stuckFor ?? .zero) < ($1.stuckFor ?? .zero) }
        guard let stuck, let time = stuck.stuckFor, time >= limits.stall else { return }
        report(.timedOut(stuck.peer, after: limits.stall))
        stuck.drop()
    }

    /// One try is enough for so few bytes on a new connection. What the client sends meanwhile is
    /// not read; on a Unix socket it can read our answer all the same.
    private func turnAway(_ number: CInt, _ status: Int, _ code: String, _ message: String) {
        var queue = OutputQueue()
        let body = HTTPAnswer.failure(code: code, message: message)
        queue.append(HTTPAnswer.whole(status, body, keepsAlive: false))
        _ = queue.send(to: number)
        Glibc.close(number)
    }

    private func refillReserve() {
        while reserve.count < limits.reserve {
            // SAFETY: the path is a constant.
            let number = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard number >= 0 else { return }
            reserve.append(number)
        }
    }

    // MARK: - For connections

    private var sortedConnections: [ControlConnection] {
        connections.values.sorted { $0.number < $1.number }
    }

    /// The loop's awake clock.
    var now: Duration { loop.now.awake }

    func arm(_ connection: ControlConnection, after limit: Duration) {
        alarms?.arm(.connection(connection.number), after: limit)
    }

    func disarm(_ connection: ControlConnection) {
        alarms?.disarm(.connection(connection.number))
    }

    func forget(_ connection: ControlConnection) {
        disarm(connection)
        connections[connection.number] = nil
        refillReserve()
    }

    func handle(_ request: ControlRequest, _ exchange: ControlExchange) {
        guard let handler else {
            return exchange.fail(503, code: "ending", message: "the engine ends")
        }
        handler.handle(request, exchange)
    }

    /// Reads what is there, up to `readPerTurn`, through one buffer for all connections.
    ///
    /// - Returns: what recv(2) returns.
    func read(from descriptor: CInt, into input: inout [UInt8]) -> Int {
        let count = retryingInterrupts {
            // SAFETY: the call is told how much room the array has.
            unsafe recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        }
        if count > 0 { input += buffer[..<count] }
        return count
    }

    /// Sends what is left, until all is gone or `farewell` is over.
    private func flushAll() {
        let end = awakeTime() + limits.farewell
        while true {
            let waiting = sortedConnections.filter(\.hasOutput)
            let left = end - awakeTime()
            guard !waiting.isEmpty, left > .zero else { return }
            var requests = waiting.map(\.pollRequest)
            let milliseconds = CInt(left.components.attoseconds / 1_000_000_000_000_000) + 1
            // SAFETY: `poll` is told how many entries there are.
            unsafe poll(&requests, nfds_t(requests.count), milliseconds)
            for connection in waiting { connection.flush() }
        }
    }
}
