import CBench
import Glibc
import Synchronization

/// Takes what the puppets say, on a thread of its own: the socket holds a few lines only, and a
/// puppet that waits for its reader keeps no time.
final class PuppetLog: Sendable {
    /// Readable when somebody said something; `take` resets it.
    let news: CInt
    private let socket: CInt
    private let newsEnd: CInt
    private let stopping: CInt
    private let stopEnd: CInt
    private let events = Mutex<[PuppetEvent]>([])

    init(_ path: String) throws {
        socket = unsafe cbench_listen(path)
        guard socket >= 0 else { throw BenchError("cannot listen for puppets: error \(-socket)") }
        var pipes: [[CInt]] = []
        for _ in 0..<2 {
            var ends: [CInt] = [-1, -1]
            guard unsafe cbench_pipe(&ends) == 0 else { throw BenchError("no pipe: \(errno)") }
            for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
            pipes.append(ends)
        }
        (news, newsEnd) = (pipes[0][0], pipes[0][1])
        (stopping, stopEnd) = (pipes[1][0], pipes[1][1])
        Polling.run { [self] in listen() }
    }

    deinit {
        for end in [socket, news, newsEnd, stopping, stopEnd] { close(end) }
    }

    /// Ends the thread, which holds this.
    func stop() { _ = unsafe write(stopEnd, "x", 1) }

    /// What was said since the last call.
    func take() -> [PuppetEvent] {
        var bytes = [UInt8](repeating: 0, count: 256)
        while unsafe read(news, &bytes, bytes.count) > 0 {}
        return events.withLock { events in
            defer { events = [] }
            return events
        }
    }

    private func listen() {
        var bytes = [UInt8](repeating: 0, count: 16 << 10)
        var watched = [socket, stopping].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while true {
            _ = unsafe poll(&watched, 2, -1)
            guard watched[1].revents == 0 else { return }
            let count = unsafe recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { continue }
            let line = String(decoding: bytes[..<count], as: UTF8.self)
            guard let event = PuppetEvent(line) else { continue }
            events.withLock { $0.append(event) }
            _ = unsafe write(newsEnd, "x", 1)
        }
    }
}
