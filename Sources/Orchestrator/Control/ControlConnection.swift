internal import EventLoop
import Glibc

/// One client: reads its requests one after the other, and writes their answers in order.
///
/// While an answer is due nothing is read: what the client sends ahead stays in the kernel. Answers
/// only queue bytes; they leave in the next turn, so nothing here calls back into whoever answers.
final class ControlConnection {
    /// Counts connections of the server; also names its alarm.
    let number: UInt64
    /// Who it is.
    let peer: ControlPeer

    private let descriptor: CInt
    private unowned let server: ControlServer
    private let reader: HTTPReader
    private var watch: Watch?
    private var input: [UInt8] = []
    private var output = OutputQueue()
    private weak var exchange: ControlExchange?
    private var state = State.reading(.nothing)
    /// Since when, on the loop's awake clock, bytes of a stream wait and none were taken.
    private var stuckSince: Duration?

    private enum State {
        /// A request is being read.
        case reading(Arrival)
        /// A request was handed over; its answer is due.
        case answering(Answer)
        /// The answer is complete; its last bytes are on their way.
        case flushing(keepsAlive: Bool)
        case closed
    }

    /// How much of a request is there.
    private enum Arrival {
        case nothing
        case part
        /// A part, and the client was told to go on with the body.
        case invited
    }

    /// What is known of an answer in advance.
    private struct Answer {
        var framing: HTTPAnswer.Framing
        var keepsAlive: Bool
    }

    /// Takes over a connected, non-blocking descriptor.
    init(_ descriptor: CInt, number: UInt64, peer: ControlPeer, of server: ControlServer) {
        self.descriptor = descriptor
        self.number = number
        self.peer = peer
        self.server = server
        reader = HTTPReader(.requests, bodyLimit: server.limits.body)
    }

    deinit {
        switch state {
        case .closed: break
        case .reading, .answering, .flushing:
            watch?.close()
            Glibc.close(descriptor)
        }
    }

    /// Begins to read.
    func open(on loop: Loop) throws(UVError) {
        watch = try Watch(loop, descriptor: descriptor, interest: .readable) { [weak self] in
            self?.react($0)
        }
        server.arm(self, after: server.limits.request)
    }

    /// Whether it waits for a request of which no byte is there.
    var isIdle: Bool {
        if case .reading(.nothing) = state { true } else { false }
    }

    /// How long the client of a stream has taken nothing of what waits for it; `nil` if nothing
    /// does.
    var stuckFor: Duration? { stuckSince.map { server.now - $0 } }

    /// Lets a client go that takes nothing: as if it had left.
    func drop() { leave() }

    /// Closes at once; what was not sent is lost.
    func close() {
        switch state {
        case .closed: break
        case .reading, .answering, .flushing:
            state = .closed
            watch?.close()
            Glibc.close(descriptor)
            server.forget(self)
        }
    }

    // MARK: - What the loop says

    private func react(_ ready: Interest) {
        if ready.contains(.writable) { flush() }
        switch state {
        case .reading: if ready.contains(.readable) || ready.contains(.disconnect) { read() }
        case .answering:
            if !ready.isDisjoint(with: [.disconnect, .priority]) { checkPeer() }
        case .flushing, .closed: break
        }
    }

    /// The alarm of the current state rang.
    func timeRanOut() {
        switch state {
        case .reading(.nothing): close()
        case .reading(.part), .reading(.invited):
            let limit = server.limits.request
            server.report(.timedOut(peer, after: limit))
            refuse(408, "timeout", "the request was not complete after \(limit)")
        case .flushing:
            server.report(.timedOut(peer, after: server.limits.stall))
            close()
        case .answering, .closed: break
        }
    }

    /// Waits for what the state needs, and no more: a condition that stays true and is not dealt
    /// with would turn the loop for ever.
    private func updateInterest() {
        var interest: Interest = output.isEmpty ? [] : .writable
        switch state {
        case .reading: interest.insert(.readable)
        case .answering(let answer):
            stuckSince = output.isEmpty ? nil : stuckSince ?? server.now
            // A client that shut down its sending side reports that for ever. Urgent data does not
            // exist on Unix sockets: what is left to be told is that it is gone altogether.
            interest.insert(answer.keepsAlive ? .disconnect : .priority)
        case .flushing: break
        case .closed: return
        }
        watch?.change(to: interest)
    }

    /// Tells a client that is gone from one that only has no more to say.
    private func checkPeer() {
        // SAFETY: `poll` gets one entry, and keeps no pointer to it.
        var status = pollfd(fd: descriptor, events: 0, revents: 0)
        let gone = CInt(POLLHUP) | CInt(POLLERR)
        if unsafe poll(&status, 1, 0) > 0, CInt(status.revents) & gone != 0 { return leave() }
        if case .answering(var answer) = state {
            answer.keepsAlive = false
            state = .answering(answer)
            updateInterest()
        }
    }

    /// The client is gone. Only now, and not before, whoever answers hears of it.
    private func leave() {
        let exchange = exchange
        close()
        exchange?.clientGone()
    }

    // MARK: - Requests

    private func read() {
        let count = server.read(from: descriptor, into: &input)
        guard count != 0 else { return close() }  // The end; half a request asks for nothing.
        if count < 0 {
            if errno != EAGAIN { close() }
            return
        }
        process()
    }

    /// Takes one request out of what came, if it is complete.
    private func process() {
        guard case .reading(let arrival) = state, !input.isEmpty else { return }
        if case .nothing = arrival {
            state = .reading(.part)
            server.arm(self, after: server.limits.request)
        }
        do {
            let count = try reader.feed(input[...])
            input.removeFirst(count)
            switch reader.progress {
            case .idle, .head: break
            case .body: invite()
            case .complete: dispatch()
            }
        } catch {
            refuse(error)
        }
    }

    /// Answers `Expect`, for a client that waits before it sends its body.
    private func invite() {
        guard case .reading(.part) = state, let expectation = reader.header("expect") else {
            return
        }
        guard expectation.lowercased() == "100-continue" else {
            return refuse(417, "expectation", "cannot meet the expectation \"\(expectation)\"")
        }
        state = .reading(.invited)
        output.append(HTTPAnswer.proceed)
        updateInterest()
    }

    private func dispatch() {
        let isCurrent = reader.version.minor >= 1
        let framing: HTTPAnswer.Framing = isCurrent ? .chunked : .untilClose
        state = .answering(Answer(framing: framing, keepsAlive: reader.keepsAlive && isCurrent))
        server.disarm(self)
        updateInterest()
        let exchange = ControlExchange(self)
        self.exchange = exchange
        if let request = request(exchange) { server.handle(request, exchange) }
    }

    /// The request that was read; `nil` if it was answered with an error already.
    private func request(_ exchange: ControlExchange) -> ControlRequest? {
        let method = reader.method
        guard method == "GET" || method == "POST" else {
            return reject(exchange, 405, "method", "use GET or POST, not \(method)")
        }
        guard let target = HTTPTarget(reader.target) else {
            return reject(exchange, 400, "target", "the request's target cannot be read")
        }
        let content = reader.takeBody()
        var body: JSONValue?
        if !content.isEmpty {
            do { body = try JSONValue(parsing: content) } catch {
                return reject(exchange, 400, "json", "the body is no JSON we take: \(error)")
            }
        }
        return ControlRequest(
            method: method, path: target.path, query: target.query, body: body, peer: peer)
    }

    /// The message was framed well: the connection lives on.
    private func reject(
        _ exchange: ControlExchange, _ status: Int, _ code: String, _ message: String
    ) -> ControlRequest? {
        server.report(.badRequest(peer, status: status, reason: message))
        exchange.fail(status, code: code, message: message)
        return nil
    }

    private func refuse(_ fault: HTTPFault) {
        switch fault {
        case .malformed(let reason): refuse(400, "malformed", "cannot read the request: \(reason)")
        case .headTooLong(let limit):
            refuse(431, "headTooLong", "the request's head is longer than \(limit) bytes")
        case .bodyTooLong(let limit):
            refuse(413, "bodyTooLong", "the request's body is longer than \(limit) bytes")
        case .upgrade: refuse(501, "upgrade", "this server speaks nothing but HTTP/1.1")
        case .version: refuse(505, "version", "this server speaks nothing but HTTP/1.1")
        }
    }

    /// Where the next request would begin is unknown: the connection ends after this answer.
    private func refuse(_ status: Int, _ code: String, _ message: String) {
        server.report(.badRequest(peer, status: status, reason: message))
        input = []
        output.append(
            HTTPAnswer.whole(
                status, HTTPAnswer.failure(code: code, message: message), keepsAlive: false))
        complete(keepsAlive: false)
    }
}

// MARK: - Answers

extension ControlConnection {
    /// How many bytes of lines a stream takes before it drops one.
    var room: Int { max(0, server.limits.output - output.count) }

    /// Whether at least half of a stream's queue is free.
    var hasRoomAgain: Bool { output.count <= server.limits.output / 2 }

    /// Whether bytes wait to be sent.
    var hasOutput: Bool { !output.isEmpty }

    /// For a poll from outside the loop.
    var pollRequest: pollfd { pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0) }

    func respond(_ status: Int, _ body: JSONValue) {
        guard case .answering(let answer) = state else { return }
        output.append(HTTPAnswer.whole(status, body, keepsAlive: answer.keepsAlive))
        complete(keepsAlive: answer.keepsAlive)
    }

    func beginStream() {
        guard case .answering(let answer) = state else { return }
        output.append(
            HTTPAnswer.streamHead(
                answer.framing, keepsAlive: answer.keepsAlive && answer.framing == .chunked))
        updateInterest()
    }

    /// - Returns: Whether there was room for it.
    func sendLine(_ line: JSONValue) -> Bool {
        guard case .answering(let answer) = state else { return true }
        let bytes = HTTPAnswer.line(line, answer.framing)
        guard output.count + bytes.count <= server.limits.output else { return false }
        output.append(bytes)
        updateInterest()
        return true
    }

    func sendLoss(_ count: Int) {
        guard case .answering(let answer) = state else { return }
        server.report(.linesLost(peer, count: count))
        output.append(HTTPAnswer.line(["lost": .integer(Int64(count))], answer.framing))
        updateInterest()
    }

    func endStream(_ last: JSONValue?) {
        guard case .answering(let answer) = state else { return }
        if let last { output.append(HTTPAnswer.line(last, answer.framing)) }
        output.append(HTTPAnswer.streamEnd(answer.framing))
        complete(keepsAlive: answer.keepsAlive && answer.framing == .chunked)
    }

    /// The server ends: whoever still waits for an answer gets a last one.
    func sayFarewell() {
        exchange?.end(with: 503, code: "ending", "the engine ends")
    }

    /// Sends what the kernel takes now.
    func flush() {
        let before = output.count
        switch output.send(to: descriptor) {
        case .gone: leave()
        case .progress(let count):
            switch state {
            case .answering:
                if count > 0 { stuckSince = nil }
                let half = server.limits.output / 2
                let isHalf = before > half && output.count <= half
                if count > 0, isHalf || output.isEmpty { exchange?.roomAgain() }
            case .flushing(let keepsAlive):
                if output.isEmpty { return keepsAlive ? readNext() : close() }
                if count > 0 { server.arm(self, after: server.limits.stall) }
            case .reading, .closed: break
            }
            updateInterest()
        }
    }

    private func complete(keepsAlive: Bool) {
        state = .flushing(keepsAlive: keepsAlive)
        server.arm(self, after: server.limits.stall)
        updateInterest()
    }

    private func readNext() {
        reader.next()
        state = .reading(.nothing)
        server.arm(self, after: server.limits.idle)
        updateInterest()
        process()
    }
}
