import Glibc
import Testing

@testable import EventLoop
@testable import Orchestrator

/// What clients without manners, or too many of them, cost.
@Suite("ControlServer, its bounds", .timeLimit(.minutes(1)))
struct ControlBoundsTests {
    private let scratch = Scratch()
    private var path: String { "\(scratch.path)/socket" }

    private func server(_ change: (inout ControlLimits) -> Void) throws -> ServerThread {
        var options = ServerThread.Options()
        change(&options.limits)
        return try ServerThread(path, options)
    }

    private func counts() throws -> JSONValue? {
        try ControlClient(path: path).request("GET", ["counts"]).body
    }

    @Test("CTL-25: half a request is answered with 408 after its limit, however it trickles in")
    func halfRequests() throws {
        let server = try server { $0.request = .seconds(1) }
        defer { server.stop() }
        let client = RawClient(path)
        client.send("GET / HTTP/1.1\r\nA: ")
        // A byte now and then does not move the limit.
        var count = 0
        while !awaitReady(client.descriptor, seconds: 0), count < 1000 {
            client.send("x")
            _ = try counts()
            count += 1
            var none = pollfd(fd: client.descriptor, events: Int16(POLLIN), revents: 0)
            unsafe poll(&none, 1, 20)
        }
        #expect(client.receive().hasPrefix("HTTP/1.1 408 "))
        #expect(try counts()?["notices"]?.array?.first?.string?.contains("1.0 seconds") == true)
    }

    @Test("CTL-26: a client that says nothing is let go, before and between requests")
    func silence() throws {
        let server = try server {
            $0.request = .milliseconds(500)
            $0.idle = .milliseconds(100)
        }
        defer { server.stop() }
        #expect(RawClient(path).receive().isEmpty)
        let client = RawClient(path)
        client.send("GET /v1/echo HTTP/1.1\r\n\r\n")
        #expect(client.receive().hasPrefix("HTTP/1.1 200 "))
    }

    @Test("CTL-26: a client that never takes its answer is let go")
    func stalled() throws {
        let server = try server {
            $0.stall = .milliseconds(100)
            $0.output = 16 << 20
        }
        defer { server.stop() }
        let client = RawClient(path)
        client.send("GET /v1/lines?count=100000 HTTP/1.1\r\n\r\n")
        while try counts()?["connections"]?.integer != 1 {}
        #expect(try counts()?["notices"]?.array?.first?.string?.contains("no progress") == true)
    }

    @Test("CTL-29: a slow follower loses lines, is told how many, and keeps its connection")
    func slowFollower() throws {
        let server = try server { $0.output = 64 << 10 }
        defer { server.stop() }
        let client = RawClient(path)
        client.send("GET /v1/follow HTTP/1.1\r\n\r\n")
        client.receive { $0.contains("following") }
        let flood = { (count: String) throws in
            _ = try ControlClient(path: path).request(
                "POST", ["flood"], query: ["count": count, "size": "900"])
        }
        try flood("5000")
        client.receive { $0.contains("\"lost\"") }
        try flood("10")
        client.receive { $0.matches(of: /"line":9,/).count == 2 || $0.hasSuffix("\"line\":9") }
        let lost = client.text.matches(of: /"lost":(\d+)/).compactMap { Int($0.output.1) }
        let lines = client.text.matches(of: /"line":\d+/).count
        #expect(lost.count == 1)
        #expect(lines + lost.reduce(0, +) == 5010)
        #expect(lines < 1000)
        #expect(try counts()?["notices"]?.description.contains("reads too slowly") == true)
    }

    @Test("CTL-29: a line longer than the queue is lost alone")
    func hugeLine() throws {
        let server = try server { $0.output = 64 << 10 }
        defer { server.stop() }
        let client = RawClient(path)
        client.send("GET /v1/follow HTTP/1.1\r\n\r\n")
        client.receive { $0.contains("following") }
        for size in ["100000", "10"] {
            _ = try ControlClient(path: path).request(
                "POST", ["flood"], query: ["count": "1", "size": size])
        }
        let text = client.receive { $0.contains("\"line\":0") }
        #expect(text.contains("{\"lost\":1}"))
    }

    @Test("CTL-44: a producer that waits for room loses nothing")
    func patientProducer() throws {
        let server = try server { $0.output = 16 << 10 }
        defer { server.stop() }
        var next: Int64 = 0
        let last = try ControlClient(path: path).stream("GET", ["bulk"], query: ["count": "5000"]) {
            if $0["result"] == nil {
                #expect($0["line"]?.integer == next)
                next += 1
            }
        }
        #expect(next == 5000 && last.body?["result"]?["exitCode"] == 0)
    }

    @Test("CTL-30: at the limit an idle client makes room; without one the newcomer is told")
    func manyConnections() throws {
        let server = try server { $0.connections = 4 }
        defer { server.stop() }
        var followers = [RawClient]()
        for _ in 0..<3 {
            let follower = RawClient(path)
            follower.send("GET /v1/follow HTTP/1.1\r\n\r\n")
            follower.receive { $0.contains("following") }
            followers.append(follower)
        }
        let idle = RawClient(path)
        idle.send("GET /v1/echo HTTP/1.1\r\n\r\n")
        idle.receive { $0.hasSuffix("}\n") }
        #expect(try counts()?["connections"] == 4)
        #expect(idle.receive().hasPrefix("HTTP/1.1 200 "))
        let last = RawClient(path)
        last.send("GET /v1/follow HTTP/1.1\r\n\r\n")
        last.receive { $0.contains("following") }
        let refused = try ControlClient(path: path).request("GET", ["counts"])
        #expect(refused.status == 503 && refused.failure?.code == "busy")
        last.vanish()
        while try ControlClient(path: path).request("GET", ["counts"]).status != 200 {}
    }

    @Test("CTL-45: at the limit the follower goes that has taken nothing for longest")
    func stuckFollowers() throws {
        let server = try server {
            $0.connections = 3
            $0.output = 4 << 20
            $0.stall = .milliseconds(200)
        }
        defer { server.stop() }
        let stuck = (0..<2).map { _ in RawClient(path) }
        for client in stuck {
            client.send("GET /v1/follow HTTP/1.1\r\n\r\n")
            client.receive { $0.contains("following") }
        }
        // More than a socket holds, and none of it is read.
        _ = try ControlClient(path: path).request(
            "POST", ["flood"], query: ["count": "600", "size": "900"])
        let reader = RawClient(path)
        reader.send("GET /v1/follow HTTP/1.1\r\n\r\n")
        reader.receive { $0.contains("following") }
        var status = 503
        while status == 503 {
            poll(nil, 0, 20)
            status = try ControlClient(path: path).request("GET", ["counts"]).status
        }
        #expect(status == 200)
        #expect(try counts()?["notices"]?.description.contains("no progress") == true)
        // One made room, and the one that reads has stayed.
        #expect(try counts()?["followers"] == 2)
    }

    @Test("CTL-47: a client that leaves before its stream begins is not followed for")
    func lateStream() throws {
        let server = try ServerThread(path)
        defer { server.stop() }
        for verb in ["late-stream", "late-wait"] {
            let client = RawClient(path)
            client.send("GET /v1/\(verb) HTTP/1.1\r\n\r\n")
            while try counts()?["pending"] != 1 {}
            client.vanish()
            while try counts()?["pending"] != 0 {}
        }
        #expect(try counts()?["late"] == ["late-stream closed", "late-wait gone"])
    }

    @Test("CTL-27: 200 vanished followers leave no descriptor, and another client its answer")
    func vanishedFollowers() async {
        await #expect(processExitsWith: .success) {
            let scratch = Scratch()
            let path = "\(scratch.path)/socket"
            let server = try ServerThread(path)
            let counts = { try ControlClient(path: path).request("GET", ["counts"]).body }
            let flood = {
                try ControlClient(path: path).request("POST", ["flood"], query: ["count": "50"])
            }
            let descriptors = { Scratch.names(in: "/proc/self/fd").count }
            // Before the first connection: its end comes a turn after its answer was read.
            let before = descriptors()
            _ = try counts()
            let witness = RawClient(path)
            #expect(descriptors() > before)  // The instrument sees a leak.
            witness.vanish()
            for round in 0..<200 {
                let client = RawClient(path)
                switch round % 4 {
                case 0:
                    client.send("GET /v1/follow HTTP/1.1\r\n\r\n")
                    client.receive { $0.contains("following") }
                case 1: client.send("GET /v1/follow HTTP/1.1\r\n\r\n")
                case 2: client.send("POST /v1/up HTTP/1.1\r\nContent-Le")
                default: break
                }
                if round % 10 == 0 {
                    _ = try flood()
                }
                client.vanish()
            }
            // Writing to those that are gone neither kills the process nor keeps them.
            #expect(try flood().status == 200)
            let clock = ContinuousClock()
            let start = clock.now
            #expect(try counts() != nil)
            #expect(start.duration(to: clock.now) < .milliseconds(500))
            while try counts()?["connections"] != 1 {}
            #expect(try counts()?["followers"] == 0)
            // The last answer's own connection ends a turn after it was read.
            while descriptors() > before {}
            #expect(descriptors() == before)
            server.stop()
        }
    }

    @Test("CTL-31: with no descriptor left, a client still gets an answer")
    func noDescriptors() async {
        await #expect(processExitsWith: .success) {
            let scratch = Scratch()
            let server = try ServerThread("\(scratch.path)/socket")
            let client = RawClient("\(scratch.path)/socket")
            client.send("GET /v1/echo HTTP/1.1\r\n\r\n")
            client.receive { $0.hasSuffix("}\n") }
            // These exist before the descriptors run out; the server meets them afterwards.
            let clients = (0..<3).compactMap { _ in UnixSocket.make(isBlocking: false) }
            var filler = [CInt]()
            while true {
                let number = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
                if number < 0 { break }
                filler.append(number)
            }
            #expect(errno == EMFILE)
            for descriptor in clients {
                #expect(UnixSocket.connect(descriptor, to: "\(scratch.path)/socket") == 0)
                var queue = OutputQueue()
                queue.append(Array("GET /v1/counts HTTP/1.1\r\n\r\n".utf8))
                _ = queue.send(to: descriptor)
                #expect(awaitReady(descriptor))
            }
            for descriptor in filler + clients { close(descriptor) }
            server.stop()
        }
    }

    @Test(
        "CTL-20: a process of another user is answered with 403 and reported",
        .enabled(if: geteuid() == 0, "only root can be two users"))
    func otherUser() async {
        await #expect(processExitsWith: .success) {
            let scratch = Scratch()
            let path = "\(scratch.path)/socket"
            unsafe chmod(scratch.path, 0o711)
            let loop = try Loop()
            let engine = ScriptedEngine()
            let server = try ControlServer(loop, path: path, handler: engine) { notice in
                engine.notices.append(notice)
                loop.stop()
            }
            // As if somebody had opened it; the kernel would refuse first.
            unsafe chmod(path, 0o666)
            #expect(seteuid(65534) == 0)
            let client = RawClient(path)
            #expect(seteuid(0) == 0)
            try loop.run()
            #expect(client.receive().hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
            #expect(
                engine.notices == [
                    .peerRefused(ControlPeer(pid: getpid(), uid: 65534, gid: getegid()))
                ])
            #expect(server.connectionCount == 0)
            server.close()
            loop.close()
        }
    }
}
