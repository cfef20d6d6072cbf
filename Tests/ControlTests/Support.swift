import EventLoop
import Glibc
import Synchronization
import Testing

@testable import Orchestrator

/// A directory of its own for one test; removed with everything in it.
final class Scratch: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/ctl-XXXXXX".utf8CString)
        guard let made = unsafe mkdtemp(&template) else { fatalError("no temporary directory") }
        path = unsafe String(cString: made)
    }

    deinit { Self.remove(path) }

    static func remove(_ path: String) {
        for name in names(in: path) {
            let child = "\(path)/\(name)"
            if isDirectory(child) { remove(child) } else { unsafe unlink(child) }
        }
        unsafe rmdir(path)
    }

    static func names(in path: String) -> [String] {
        guard let stream = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(stream) }
        var names = [String]()
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    static func isDirectory(_ path: String) -> Bool {
        mode(of: path).map { $0 & S_IFMT == S_IFDIR } ?? false
    }

    static func mode(of path: String) -> mode_t? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_mode : nil
    }

    /// A path in here of exactly this many bytes, its directory made.
    func path(ofBytes count: Int, ending: String) -> String {
        let filler = String(repeating: "d", count: count - path.utf8.count - ending.utf8.count - 2)
        unsafe mkdir("\(path)/\(filler)", 0o700)
        return "\(path)/\(filler)/\(ending)"
    }

    static func write(_ text: String, to path: String) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        let bytes = Array(text.utf8)
        let count = unsafe Glibc.write(descriptor, bytes, bytes.count)
        precondition(count == bytes.count)
        close(descriptor)
    }

    static func read(_ path: String) -> String? {
        smallFile(path, atMost: 1 << 20).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Waits until a descriptor is ready, at most `seconds`.
func awaitReady(_ descriptor: CInt, _ events: CInt = POLLIN, seconds: CInt = 10) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    return retryingInterrupts { unsafe poll(&request, 1, seconds * 1000) } > 0
}

/// A client without manners: sends what it is told, whenever it is told.
final class RawClient {
    private(set) var descriptor: CInt
    private(set) var received: [UInt8] = []

    init(_ path: String) {
        guard let number = UnixSocket.make(isBlocking: false) else { fatalError("no socket") }
        descriptor = number
        let code = UnixSocket.connect(number, to: path)
        precondition(code == 0, "cannot connect to \(path): \(code)")
    }

    deinit { vanish() }

    func vanish() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    /// Sends everything; false when nobody takes it.
    @discardableResult
    func send(_ bytes: some Collection<UInt8>) -> Bool {
        var queue = OutputQueue()
        queue.append(Array(bytes))
        while true {
            switch queue.send(to: descriptor) {
            case .gone: return false
            case .progress: if queue.isEmpty { return true }
            }
            guard awaitReady(descriptor, POLLOUT) else { return false }
        }
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Reads until `isEnough`, the end, or a deadline; then what came in all.
    @discardableResult
    func receive(seconds: CInt = 10, until isEnough: (String) -> Bool = { _ in false }) -> String {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while !isEnough(text), awaitReady(descriptor, seconds: seconds) {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            if count <= 0 { break }
            received += buffer[..<count]
        }
        return text
    }

    var text: String { String(decoding: received, as: UTF8.self) }
}

/// A server on a thread and a loop of its own, with a `ScriptedEngine` behind it.
final class ServerThread: Sendable {
    let path: String
    private let shared = Mutex<Shared>(Shared())

    private struct Shared {
        var handle: WakeupHandle?
        var error: ControlError?
        var thread: pthread_t?
    }

    struct Options: Sendable {
        var limits = ControlLimits()
        var makeDirectory: (@Sendable () throws(ProjectError) -> Void)?
    }

    init(_ path: String, _ options: Options = Options()) throws {
        self.path = path
        var pipe: [CInt] = [-1, -1]
        try #require(unsafe Glibc.pipe(&pipe) == 0)
        let ready = pipe[1]
        let thread = startThread { [self] in serve(options, ready: ready) }
        shared.withLock { $0.thread = thread }
        let isUp = awaitReady(pipe[0])
        close(pipe[0])
        close(pipe[1])
        try #require(isUp)
        if let error = shared.withLock({ $0.error }) {
            join()
            throw error
        }
    }

    deinit { stop() }

    /// Closes the server and waits for its thread.
    func stop() {
        shared.withLock { $0.handle }?.wake()
        join()
    }

    private func join() {
        let thread = shared.withLock { shared in
            defer { shared.thread = nil }
            return shared.thread
        }
        if let thread { pthread_join(thread, nil) }
    }

    private func serve(_ options: Options, ready: CInt) {
        do {
            let loop = try Loop()
            defer { loop.close() }
            let engine = ScriptedEngine()
            let server: ControlServer
            do throws(ControlError) {
                server = try ControlServer(
                    loop, path: path, handler: engine, limits: options.limits
                ) { engine.notices.append($0) }
            } catch {
                shared.withLock { $0.error = error }
                unsafe Glibc.write(ready, "x", 1)
                return
            }
            server.makeDirectory = options.makeDirectory
            engine.server = server
            let wakeup = try Wakeup(loop) { loop.stop() }
            shared.withLock { $0.handle = wakeup.handle }
            unsafe Glibc.write(ready, "x", 1)
            try loop.run()
            server.close()
            wakeup.close()
        } catch { fatalError("the test's loop failed: \(error)") }
    }
}

/// A thread that runs `body` and can be joined.
func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t {
    let box = unsafe Unmanaged.passRetained(ThreadBody(body)).toOpaque()
    var thread = pthread_t()
    let code = unsafe pthread_create(
        &thread, nil,
        { context in
            guard let context = unsafe context else { return nil }
            unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().body()
            return nil
        }, box)
    precondition(code == 0, "cannot start a thread")
    return thread
}

private final class ThreadBody: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// What a test's engine answers.
final class ScriptedEngine: ControlHandler {
    weak var server: ControlServer?
    var notices: [ControlNotice] = []
    private var followers: [ControlExchange] = []
    private var stops: [ControlExchange] = []
    private var gone: Int64 = 0
    private var completed: Int64 = 0
    private var pending: Int64 = 0
    private var late: [String] = []
    private var waiters: [EngineWaiter] = []

    func handle(_ request: ControlRequest, _ exchange: ControlExchange) {
        switch request.path.last {
        case "echo":
            exchange.respond(
                200,
                [
                    "method": .string(request.method),
                    "path": .array(request.path.map { .string($0) }),
                    "query": query(request), "body": request.body ?? .null,
                ])
        case "counts": exchange.respond(200, counts)
        case "lines": sendLines(request, to: exchange)
        case "follow": follow(exchange)
        case "bulk": Bulk(Int64(request.query["count"] ?? "") ?? 0, exchange).pump()
        case "flood": flood(request, exchange)
        case "stop":
            stops.append(exchange)
            exchange.onClientGone = { [self] in gone += 1 }
            exchange.send(["event": "stopping"])
        case "release":
            for stop in stops {
                completed += 1
                stop.end(["result": ["exitCode": 0]])
            }
            stops = []
            exchange.respond(200, counts)
        case "late-stream": beginLate(exchange)
        case "late-wait": wait(exchange)
        case "dropped": break
        case "silence": stops.append(exchange)
        case "failing": exchange.fail(404, code: "noService", message: "no service \"x\"")
        default: exchange.fail(404, code: "notFound", message: "no such thing")
        }
    }

    private var counts: JSONValue {
        [
            "connections": .integer(Int64(server?.connectionCount ?? -1)), "gone": .integer(gone),
            "completed": .integer(completed),
            "followers": .integer(Int64(followers.count(where: \.isOpen))),
            "pending": .integer(pending), "late": .array(late.map { .string($0) }),
            "notices": .array(notices.map { .string($0.description) }),
        ]
    }

    /// Begins a stream only when its client has left: as if its log had taken so long to read.
    private func beginLate(_ exchange: ControlExchange) {
        pending += 1
        exchange.onClientGone = { [self] in
            pending -= 1
            let follower = Follower<LogLine>(capacity: 8) { _ in true }
            _ = ItemStream(exchange, [], follower) { $0.json }
            late.append("late-stream \(follower.isClosed ? "closed" : "open")")
        }
        exchange.beginStream()
    }

    private func wait(_ exchange: ControlExchange) {
        pending += 1
        let waiter = EngineWaiter(exchange, services: nil) { _ in nil }
        waiter.onGone = { [self] in
            pending -= 1
            late.append("late-wait gone")
        }
        waiters.append(waiter)
    }

    private func query(_ request: ControlRequest) -> JSONValue {
        let pairs = request.query.sorted { $0.key < $1.key }
        return .object(JSONObject(pairs.map { .init(key: $0.key, value: .string($0.value)) }))
    }

    private func sendLines(_ request: ControlRequest, to exchange: ControlExchange) {
        for number in 0..<(Int64(request.query["count"] ?? "") ?? 3) {
            exchange.send(["line": .integer(number)])
        }
        exchange.end(["result": ["exitCode": 0]])
    }

    private func follow(_ exchange: ControlExchange) {
        followers.append(exchange)
        exchange.onClientGone = { [self] in
            gone += 1
            followers.removeAll { !$0.isOpen }
        }
        exchange.send(["event": "following"])
    }

    private func flood(_ request: ControlRequest, _ exchange: ControlExchange) {
        let filler = String(repeating: "x", count: Int(request.query["size"] ?? "") ?? 1000)
        for number in 0..<(Int64(request.query["count"] ?? "") ?? 1000) {
            for follower in followers {
                follower.send(["line": .integer(number), "text": .string(filler)])
            }
        }
        exchange.respond(200, counts)
    }
}

/// Sends many lines as fast as its client takes them.
final class Bulk {
    private let count: Int64
    private let exchange: ControlExchange
    private var next: Int64 = 0

    init(_ count: Int64, _ exchange: ControlExchange) {
        self.count = count
        self.exchange = exchange
        exchange.onRoom = { self.pump() }
    }

    func pump() {
        while next < count, exchange.room > 1000 {
            exchange.send([
                "line": .integer(next), "text": .string(String(repeating: "x", count: 500)),
            ])
            next += 1
        }
        if next == count { exchange.end(["result": ["exitCode": 0]]) }
    }
}
