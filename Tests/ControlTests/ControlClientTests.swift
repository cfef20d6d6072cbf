import Glibc
import Testing

@testable import Orchestrator

@Suite("ControlClient", .timeLimit(.minutes(1)))
struct ControlClientTests {
    private let scratch = Scratch()
    private var path: String { "\(scratch.path)/socket" }

    @Test("requests and streams, several with one client, names of any kind")
    func requests() throws {
        let server = try ServerThread(path)
        defer { server.stop() }
        let client = try ControlClient(path: path)
        let name = "a/b c?d#e%f ü\n"
        for _ in 0..<3 {
            let answer = try client.request(
                "POST", ["v1", name, "echo"], query: ["q&=": name], body: ["x": [1, 2.5, nil]])
            #expect(answer.body?["path"]?.array == ["v1", .string(name), "echo"])
            #expect(answer.body?["query"]?["q&="]?.string == name)
            #expect(answer.body?["body"]?.description == #"{"x":[1,2.5,null]}"#)
        }
        var lines = [JSONValue]()
        let last = try client.stream("GET", ["lines"], query: ["count": "5000"]) {
            lines.append($0)
        }
        #expect(lines.count == 5001 && lines.last == last.body)
        #expect(last.body?["result"]?["exitCode"] == 0 && last.isSuccess)
        #expect(try client.request("GET", ["lines"]).body == last.body)
    }

    @Test("an error answer is an answer, also where a stream was asked for")
    func errors() throws {
        let server = try ServerThread(path)
        defer { server.stop() }
        let client = try ControlClient(path: path)
        let answer = try client.stream("GET", ["failing"]) { _ in Issue.record("a line") }
        #expect(answer.status == 404 && !answer.isSuccess)
        #expect(answer.failure?.code == "noService")
        #expect(answer.failure?.message == "no service \"x\"")
    }

    @Test("CTL-40: nothing runs, told from what is not ours")
    func nobody() throws {
        for path in [path, "\(path)/below/nothing", "/dev/null/x"] {
            #expect(throws: ControlClientError.nothingRuns(path: path)) {
                try ControlClient(path: path)
            }
        }
        #expect("\(ControlClientError.nothingRuns(path: "/s"))".contains("`up`"))
    }

    @Test(
        "CTL-40: another user's socket is not permitted, another user's listener is foreign",
        .enabled(if: geteuid() == 0, "only root can be two users"))
    func otherUser() async {
        await #expect(processExitsWith: .success) {
            let scratch = Scratch()
            let path = "\(scratch.path)/socket"
            unsafe chmod(scratch.path, 0o777)
            let server = try ServerThread(path)
            server.stop()
            #expect(seteuid(65533) == 0)
            let listener = UnixSocket.make(isBlocking: false) ?? -1
            #expect(UnixSocket.bind(listener, to: path) == 0 && listen(listener, 5) == 0)
            unsafe chmod(path, 0o600)
            #expect(seteuid(0) == 0 && seteuid(65534) == 0)
            #expect(throws: ControlClientError.notPermitted(path: path)) {
                try ControlClient(path: path)
            }
            #expect(seteuid(0) == 0)
            unsafe chmod(path, 0o666)
            #expect(seteuid(65534) == 0)
            do {
                _ = try ControlClient(path: path)
                Issue.record("it trusts a stranger")
            } catch ControlClientError.foreign(_, let reason) {
                #expect(reason.contains("65533"))
            }
            #expect(seteuid(0) == 0)
        }
    }

    /// Answers one request with these bytes, then hangs up, or not.
    private func answering(_ bytes: String, hangsUp: Bool) throws -> Stub {
        try Stub(path, bytes, hangsUp: hangsUp)
    }

    @Test("CTL-42: an engine that dies in mid-answer is not a finished answer")
    func deaths() throws {
        let whole =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: "
            + "application/x-ndjson\r\n\r\n6\r\n{\"a\":1\r\n2\r\n}\n\r\n0\r\n\r\n"
        for length in 0..<whole.utf8.count {
            let stub = try answering(
                String(decoding: whole.utf8.prefix(length), as: UTF8.self), hangsUp: true)
            #expect(throws: ControlClientError.disconnected(path: path)) {
                try ControlClient(path: path).request("GET", ["x"])
            }
            stub.stop()
        }
        let stub = try answering(whole, hangsUp: true)
        #expect(try ControlClient(path: path).request("GET", ["x"]).body == ["a": 1])
        stub.stop()
    }

    @Test(
        "CTL-40: what does not speak our protocol is foreign",
        arguments: [
            "220 mail.example.org ESMTP\r\n", "\0\u{1}\u{2}",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n<a>",
        ])
    func otherProtocols(_ answer: String) throws {
        let stub = try answering(answer, hangsUp: true)
        defer { stub.stop() }
        do {
            _ = try ControlClient(path: path).request("GET", ["x"])
            Issue.record("it was understood")
        } catch ControlClientError.foreign {}
    }

    @Test("interim answers are skipped; an answer may last until the end of the connection")
    func unusualAnswers() throws {
        let stub = try answering(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 X\r\n\r\nHTTP/1.0 200 OK\r\n\r\n[1]",
            hangsUp: true)
        defer { stub.stop() }
        #expect(try ControlClient(path: path).request("GET", ["x"]).body == [1])
    }

    @Test("CTL-41: an engine that does not answer is given up, naming step and limit")
    func silence() throws {
        for start in ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1"] {
            let stub = try answering(start, hangsUp: false)
            let client = try ControlClient(path: path)
            client.limits.answer = .milliseconds(100)
            #expect(
                throws: ControlClientError.timedOut(
                    waitingFor: "an answer", after: .milliseconds(100))
            ) { try client.request("GET", ["x"]) }
            stub.stop()
        }
    }

    @Test("CTL-41: between lines a stream has a limit of its own")
    func silentStream() throws {
        let server = try ServerThread(path)
        defer { server.stop() }
        let client = try ControlClient(path: path)
        client.limits.line = .milliseconds(100)
        #expect(
            throws: ControlClientError.timedOut(
                waitingFor: "the next line", after: .milliseconds(100))
        ) { try client.stream("GET", ["follow"]) { _ in } }
    }

    @Test("CTL-41: an engine whose backlog is full is given up")
    func fullBacklog() throws {
        let listener = try #require(UnixSocket.make(isBlocking: false))
        defer { close(listener) }
        #expect(UnixSocket.bind(listener, to: path) == 0 && listen(listener, 0) == 0)
        let waiting = RawClient(path)
        #expect(
            throws: ControlClientError.timedOut(waitingFor: "a connection", after: .seconds(1))
        ) { try ControlClient(path: path, connectLimit: .seconds(1)) }
        waiting.vanish()
    }

    @Test("a descriptor can interrupt a wait")
    func interrupted() throws {
        let server = try ServerThread(path)
        defer { server.stop() }
        var pipe: [CInt] = [-1, -1]
        #expect(unsafe Glibc.pipe(&pipe) == 0)
        let client = try ControlClient(path: path)
        client.interruption = pipe[0]
        let end = pipe[1]
        #expect(throws: ControlClientError.interrupted) {
            try client.stream("GET", ["follow"]) { _ in unsafe write(end, "x", 1) }
        }
        for descriptor in pipe { close(descriptor) }
    }
}

/// A listener on a thread of its own that gives one connection one answer.
final class Stub: Sendable {
    private let thread: pthread_t
    private let listener: CInt
    private let path: String

    init(_ path: String, _ answer: String, hangsUp: Bool) throws {
        self.path = path
        let listener = try #require(UnixSocket.make(isBlocking: true))
        #expect(UnixSocket.bind(listener, to: path) == 0 && listen(listener, 5) == 0)
        self.listener = listener
        thread = startThread {
            let number = accept(listener, nil, nil)
            var buffer = [UInt8](repeating: 0, count: 4096)
            _ = unsafe recv(number, &buffer, buffer.count, 0)
            var queue = OutputQueue()
            queue.append(Array(answer.utf8))
            _ = queue.send(to: number)
            // Silence lasts until the client leaves.
            if !hangsUp { _ = unsafe recv(number, &buffer, buffer.count, 0) }
            close(number)
        }
    }

    func stop() {
        pthread_join(thread, nil)
        close(listener)
        unsafe unlink(path)
    }
}
