import Glibc
import Testing

@testable import Orchestrator

@Suite("ControlServer", .timeLimit(.minutes(1)))
struct ControlServerTests {
    private let scratch = Scratch()
    private var path: String { "\(scratch.path)/socket" }

    private static let echo =
        "POST /v1/echo?a=b%20c HTTP/1.1\r\nHost: x\r\nContent-Length: 7\r\n\r\n{\"a\":1}"
    private static let close = "GET /v1/echo HTTP/1.1\r\nConnection: close\r\n\r\n"

    private static let hasCurl = unsafe access("/usr/bin/curl", X_OK) == 0

    /// The statuses of the answers in what came.
    private func statuses(_ text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("HTTP/1.1 ") }
            .map { String($0.split(separator: " ")[1]) }
    }

    @Test("a request reaches the handler whole, and its answer the client")
    func roundTrip() throws {
        let server = try ServerThread(path)
        defer { server.stop() }
        #expect(Scratch.mode(of: path) == S_IFSOCK | 0o600)
        let client = RawClient(path)
        client.send(Self.echo)
        let answer = client.receive { $0.hasSuffix("\n") }
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"))
        let expected =
            #"{"method":"POST","path":["v1","echo"],"query":{"a":"b c"},"body":{"a":1}}"#
        #expect(answer.hasSuffix("\r\n\r\n\(expected)\n"))
    }

    @Test("CTL-21: a request that comes in any two pieces gets the same answer")
    func anySplit() throws {
        let server = try ServerThread(path)
        defer { server.stop() }
        let bytes = Array(Self.echo.utf8)
        let client = RawClient(path)
        var expected = 0
        for place in 1..<bytes.count {
            client.send(bytes[..<place])
            // The pieces must not meet in the kernel: another client's answer comes in between.
            if place.isMultiple(of: 10) {
                _ = try ControlClient(path: path).request("GET", ["echo"])
            }
            client.send(bytes[place...])
            expected += 1
            let text = client.receive { statuses($0).count == expected && $0.hasSuffix("\n") }
            #expect(statuses(text).allSatisfy { $0 == "200" })
        }
        #expect(
            client.text.split(separator: "\n").filter { $0.contains(#""a":1"#) }.count == expected)
    }

    @Test("CTL-32: requests sent ahead are answered in order, streams among them")
    func pipelined() throws {
        let server = try ServerThread(path)
        defer { server.stop() }
        let client = RawClient(path)
        let requests = (0..<200).map { number in
            number.isMultiple(of: 3)
                ? "GET /v1/lines?count=2 HTTP/1.1\r\n\r\n"
                : "GET /v1/echo?n=\(number) HTTP/1.1\r\n\r\n"
        }
        client.send(requests.joined() + Self.close)
        let text = client.receive()
        #expect(statuses(text).count == 201)
        let numbers = text.matches(of: /"n":"(\d+)"/).compactMap { Int($0.output.1) }
        #expect(numbers == (0..<200).filter { !$0.isMultiple(of: 3) })
    }

    @Test("a stream is chunked JSON lines; a client of HTTP/1.0 gets it until the end")
    func streams() throws {
        let server = try ServerThread(path)
        defer { server.stop() }
        let client = RawClient(path)
        client.send("GET /v1/lines?count=1 HTTP/1.1\r\nConnection: close\r\n\r\n")
        let text = client.receive()
        #expect(text.contains("Transfer-Encoding: chunked\r\n"))
        #expect(
            text.hasSuffix(
                "b\r\n{\"line\":0}\n\r\n1a\r\n{\"result\":{\"exitCode\":0}}\n\r\n0\r\n\r\n"))
        let old = RawClient(path)
        old.send("GET /v1/lines?count=1 HTTP/1.0\r\n\r\n")
        let plain = old.receive()
        #expect(!plain.contains("chunked"))
        #expect(plain.hasSuffix("\r\n\r\n{\"line\":0}\n{\"result\":{\"exitCode\":0}}\n"))
    }

    @Test(
        "CTL-22, CTL-23, CTL-24, CTL-38: what we do not take gets a status and a reason",
        arguments: [
            ("\0\0\0\0", "400"), ("GET http://x/ HTTP/1.1\r\n\r\n", "400"),
            ("GET / HTTP/2.0\r\n\r\n", "505"), ("CONNECT a:1 HTTP/1.1\r\n\r\n", "501"),
            ("DELETE /v1/status HTTP/1.1\r\n\r\n", "405"), ("HEAD / HTTP/1.1\r\n\r\n", "405"),
            ("POST /v1/up HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n", "413"),
            ("POST /v1/up HTTP/1.1\r\nContent-Length: 1\r\n\r\n{", "400"),
            ("POST /v1/up HTTP/1.1\r\nContent-Length: 2\r\nExpect: wonders\r\n\r\n", "417"),
            ("GET /v1/nothing HTTP/1.1\r\n\r\n", "404"),
        ])
    func refusals(_ request: String, _ status: String) throws {
        let server = try ServerThread(path)
        defer { server.stop() }
        let client = RawClient(path)
        client.send(request)
        let answer = client.receive { $0.hasSuffix("}}\n") }
        #expect(statuses(answer) == [status])
        #expect(answer.contains(#"{"error":{"code":""#))
    }

    @Test("CTL-23, CTL-24: a head of 1 MiB and an endless body are cut off, and answered")
    func floods() throws {
        let server = try ServerThread(path)
        defer { server.stop() }
        let filler = String(repeating: "x", count: 1 << 20)
        let head = RawClient(path)
        head.send("GET / HTTP/1.1\r\nA: \(filler)\r\n\r\n")
        #expect(statuses(head.receive()) == ["431"])
        let body = RawClient(path)
        body.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        while body.send("10000\r\n\(filler.prefix(1 << 16))\r\n") {}
        #expect(statuses(body.receive()) == ["413"])
        #expect(try ControlClient(path: path).request("GET", ["echo"]).status == 200)
    }

    @Test("CTL-36: who waits for leave to send a body gets it")
    func expectation() throws {
        let server = try ServerThread(path)
        defer { server.stop() }
        let client = RawClient(path)
        client.send(
            "POST /v1/echo HTTP/1.1\r\nContent-Length: 7\r\nExpect: 100-Continue\r\n\r\n")
        #expect(client.receive { $0.hasSuffix("\r\n\r\n") } == "HTTP/1.1 100 Continue\r\n\r\n")
        client.send("{\"a\":1}")
        #expect(statuses(client.receive { $0.hasSuffix("}\n") }) == ["100", "200"])
    }

    @Test("CTL-33: a client that shuts down its sending side gets its answer, now or later")
    func halfClosed() throws {
        let server = try ServerThread(path)
        defer { server.stop() }
        let now = RawClient(path)
        now.send(Self.echo)
        shutdown(now.descriptor, CInt(SHUT_WR))
        #expect(statuses(now.receive()) == ["200"])
        let later = RawClient(path)
        later.send("POST /v1/stop HTTP/1.1\r\n\r\n")
        shutdown(later.descriptor, CInt(SHUT_WR))
        later.receive { $0.contains("stopping") }
        _ = try ControlClient(path: path).request("POST", ["release"])
        #expect(later.receive().hasSuffix("{\"result\":{\"exitCode\":0}}\n\r\n0\r\n\r\n"))
    }

    @Test("CTL-28: the stop of a client that vanished completes, also if it had shut down before")
    func vanishedStopper() throws {
        let server = try ServerThread(path)
        defer { server.stop() }
        let control = { try ControlClient(path: path).request("GET", ["counts"]).body }
        for isHalfClosed in [false, true] {
            let stopper = RawClient(path)
            stopper.send("POST /v1/stop HTTP/1.1\r\n\r\n")
            stopper.receive { $0.contains("stopping") }
            if isHalfClosed {
                shutdown(stopper.descriptor, CInt(SHUT_WR))
                _ = try control()
            }
            stopper.vanish()
        }
        // Each answer is a turn of the loop later than the departure.
        while try control()?["gone"]?.integer != 2 {}
        let counts = try ControlClient(path: path).request("POST", ["release"]).body
        #expect(counts?["completed"]?.integer == 2)
        #expect(try control()?["connections"]?.integer == 1)
    }

    @Test("a request sent and forgotten is done")
    func fireAndForget() throws {
        let server = try ServerThread(path)
        defer { server.stop() }
        let client = RawClient(path)
        client.send("POST /v1/stop HTTP/1.1\r\n\r\n")
        client.vanish()
        let control = { try ControlClient(path: path).request("GET", ["counts"]).body }
        while try control()?["gone"]?.integer != 1 {}
    }

    @Test("CTL-34: a request that the handler forgets is answered with status 500")
    func dropped() throws {
        let server = try ServerThread(path)
        defer { server.stop() }
        let answer = try ControlClient(path: path).request("GET", ["dropped"])
        #expect(answer.status == 500 && answer.failure?.code == "noAnswer")
    }

    @Test("CTL-35: whoever waits when the engine ends is told, and the socket goes")
    func farewell() throws {
        let server = try ServerThread(path)
        let waiting = RawClient(path)
        waiting.send("GET /v1/silence HTTP/1.1\r\n\r\n")
        let follower = RawClient(path)
        follower.send("GET /v1/follow HTTP/1.1\r\n\r\n")
        follower.receive { $0.contains("following") }
        while try ControlClient(path: path).request("GET", ["counts"]).body?["connections"] != 3 {}
        server.stop()
        #expect(statuses(waiting.receive()) == ["503"])
        #expect(follower.receive().contains(#"{"error":{"code":"ending""#))
        #expect(follower.text.hasSuffix("0\r\n\r\n"))
        #expect(Scratch.names(in: scratch.path).isEmpty)
    }

    @Test("CTL-43: curl talks to it", .enabled(if: Self.hasCurl, "no curl"))
    func curl() throws {
        let server = try ServerThread(path)
        defer { server.stop() }
        let body = "{\"text\":\"\(String(repeating: "y", count: 3000))\"}"
        Scratch.write(body, to: "\(scratch.path)/body")
        let command =
            "curl -sS --max-time 10 --unix-socket \(path)"
            + " -H 'Expect: 100-continue' -d @\(scratch.path)/body http://x/v1/echo"
            + " --next -sS --unix-socket \(path) 'http://x/v1/lines?count=2'"
        guard let stream = unsafe popen(command, "r") else {
            Issue.record("cannot start curl")
            return
        }
        defer { unsafe pclose(stream) }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = unsafe fread(&buffer, 1, buffer.count, stream)
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        #expect(text.hasPrefix(#"{"method":"POST","path":["v1","echo"]"#))
        #expect(text.hasSuffix("}\n{\"line\":0}\n{\"line\":1}\n{\"result\":{\"exitCode\":0}}\n"))
    }
}
