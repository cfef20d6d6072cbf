/// The answer to one request: whole at once, or a stream of JSON lines.
///
/// Whatever is called after the end, or after the client left, does nothing. An exchange belongs to
/// the loop's thread. One that is dropped before its end is ended with an error, so that no client
/// waits for ever.
public final class ControlExchange {
    /// Runs once if the client leaves before the end, and never after the end. What it asked for
    /// goes on: a stop is not undone by closing a terminal.
    public var onClientGone: (() -> Void)?
    /// Runs when a stream's client has taken so much that half of the queue is free again, and when
    /// it has taken all. A producer that can wait sends while `room` allows and goes on here: then
    /// nothing is lost.
    public var onRoom: (() -> Void)?

    private weak var connection: ControlConnection?
    private var state = State.waiting

    private enum State {
        /// Nothing was said.
        case waiting
        /// The stream is open; this many lines were dropped since the last one that was sent.
        case streaming(lost: Int)
        case ended
    }

    init(_ connection: ControlConnection) { self.connection = connection }

    deinit {
        switch state {
        case .ended: break
        case .waiting, .streaming:
            end(with: 500, code: "noAnswer", "the engine dropped this request unanswered")
        }
    }

    /// Whether an answer is still due and somebody waits for it.
    public var isOpen: Bool {
        switch state {
        case .waiting, .streaming: true
        case .ended: false
        }
    }

    /// How many bytes of lines the stream's queue takes before it drops one.
    public var room: Int { connection?.room ?? 0 }

    /// Answers with a whole body. In a stream, this is its last line.
    public func respond(_ status: Int, _ body: JSONValue) {
        switch state {
        case .waiting:
            finish()
            connection?.respond(status, body)
        case .streaming: end(body)
        case .ended: break
        }
    }

    /// Answers with an error: `{"error":{"code":…,"message":…}}`. In a stream, this is the last
    /// line.
    ///
    /// - Parameters:
    ///   - status: the HTTP status, 400 to 599.
    ///   - code: one word for programs.
    ///   - message: a sentence for people.
    public func fail(_ status: Int, code: String, message: String) {
        respond(status, HTTPAnswer.failure(code: code, message: message))
    }

    /// Opens a stream of JSON lines, with status 200.
    public func beginStream() {
        switch state {
        case .waiting:
            state = .streaming(lost: 0)
            connection?.beginStream()
        case .streaming, .ended: break
        }
    }

    /// Adds a line to the stream; opens it if need be. A line for which the queue has no room is
    /// dropped and counted; the client is told with `{"lost":N}` in its place.
    public func send(_ line: JSONValue) {
        beginStream()
        guard case .streaming(let lost) = state, let connection else { return }
        if lost > 0, !connection.hasRoomAgain {
            state = .streaming(lost: lost + 1)
            return
        }
        tellLoss()
        if !connection.sendLine(line) { state = .streaming(lost: 1) }
    }

    /// Ends the stream, with `last` as its last line, which is never dropped.
    public func end(_ last: JSONValue? = nil) {
        beginStream()
        guard case .streaming = state else { return }
        tellLoss()
        finish()
        connection?.endStream(last)
    }

    // MARK: - From the connection

    /// The client left.
    func clientGone() {
        let react = onClientGone
        finish()
        react?()
    }

    /// The client took so much that half of the queue is free again.
    func roomAgain() {
        tellLoss()
        onRoom?()
    }

    /// Ends whatever state the exchange is in with an error.
    func end(with status: Int, code: String, _ message: String) {
        fail(status, code: code, message: message)
    }

    private func tellLoss() {
        guard case .streaming(let lost) = state, lost > 0 else { return }
        state = .streaming(lost: 0)
        connection?.sendLoss(lost)
    }

    private func finish() {
        state = .ended
        onClientGone = nil
        onRoom = nil
    }
}
