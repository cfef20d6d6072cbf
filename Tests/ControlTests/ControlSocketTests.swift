import Glibc
import Testing

@testable import Orchestrator

@Suite("The control socket's path", .timeLimit(.minutes(1)))
struct ControlSocketTests {
    private let scratch = Scratch()
    private var path: String { "\(scratch.path)/socket" }

    /// A socket bound by somebody else; it answers only while it listens.
    private func foreign(_ path: String, listens: Bool) throws -> CInt {
        let descriptor = try #require(UnixSocket.make(isBlocking: false))
        #expect(UnixSocket.bind(descriptor, to: path) == 0)
        if listens { #expect(listen(descriptor, 1) == 0) }
        return descriptor
    }

    @Test("CTL-1: a path of 107 bytes works, a longer one is refused and nothing is made")
    func lengths() throws {
        for count in [107, 108, 109, 158] {
            let path = scratch.path(ofBytes: count, ending: "socket")
            #expect(path.utf8.count == count)
            do {
                let server = try ServerThread(path)
                #expect(count == 107)
                #expect(try ControlClient(path: path).request("GET", ["echo"]).status == 200)
                server.stop()
            } catch let error as ControlError {
                #expect(error == .pathTooLong(path: path, bytes: count, limit: 107))
                #expect("\(error)".contains(path) && "\(error)".contains("107"))
                #expect(Scratch.names(in: String(path.dropLast(7))).isEmpty)
                #expect(
                    throws: ControlClientError.pathTooLong(path: path, bytes: count, limit: 107)
                ) { try ControlClient(path: path) }
            }
        }
    }

    @Test("CTL-2: a socket that nobody answers on is replaced")
    func stale() throws {
        close(try foreign(path, listens: false))
        #expect(throws: ControlClientError.nothingRuns(path: path)) {
            try ControlClient(path: path)
        }
        let server = try ServerThread(path)
        #expect(try ControlClient(path: path).request("GET", ["echo"]).status == 200)
        server.stop()
    }

    @Test("CTL-3: a regular file is refused and left alone")
    func regularFile() throws {
        Scratch.write("precious", to: path)
        #expect(throws: ControlError.occupiedByFile(path: path)) { try ServerThread(path) }
        #expect(Scratch.read(path) == "precious")
        #expect(throws: ControlClientError.foreign(path: path, reason: "it is no socket")) {
            try ControlClient(path: path)
        }
        unsafe unlink(path)
        unsafe symlink("\(scratch.path)/elsewhere", path)
        #expect(throws: ControlError.occupiedByFile(path: path)) { try ServerThread(path) }
    }

    @Test("CTL-4: a listener is refused, named and left alone, also one that is too busy to answer")
    func liveListener() throws {
        let descriptor = try foreign(path, listens: true)
        defer { close(descriptor) }
        var waiting = [CInt]()
        while true {
            do {
                _ = try ServerThread(path)
                Issue.record("it was replaced")
            } catch ControlError.occupiedByListener(_, let peer) {
                #expect(peer == nil || peer?.pid == getpid())
                if peer == nil { break }
            }
            let next = try #require(UnixSocket.make(isBlocking: false))
            _ = UnixSocket.connect(next, to: path)
            waiting.append(next)
        }
        for descriptor in waiting { close(descriptor) }
        #expect(Scratch.names(in: scratch.path) == ["socket"])
    }

    @Test("CTL-4: a socket of another type is refused")
    func datagramSocket() throws {
        let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        #expect(UnixSocket.bind(descriptor, to: path) == 0)
        #expect(throws: ControlError.occupiedByListener(path: path, nil)) { try ServerThread(path) }
        #expect(throws: ControlClientError.self) { try ControlClient(path: path) }
    }

    @Test("a missing directory is a clear error")
    func missingDirectory() {
        do {
            _ = try ServerThread("\(scratch.path)/missing/socket")
            Issue.record("it listens")
        } catch { #expect("\(error)".contains("no such file")) }
    }

    @Test("CTL-8: a socket that was removed is made again, with its directory")
    func removed() throws {
        let directory = "\(scratch.path)/control"
        unsafe mkdir(directory, 0o700)
        let path = "\(directory)/socket"
        var options = ServerThread.Options()
        options.makeDirectory = { unsafe mkdir(directory, 0o700) }
        let server = try ServerThread(path, options)
        defer { server.stop() }
        for round in 1...3 {
            if round == 2 { unsafe unlink(path) } else { Scratch.remove(directory) }
            let notices = try firstAnswer(path)?["notices"]?.array
            #expect(notices?.count == round)
            #expect(notices?.last?.string?.contains("made the control socket") == true)
        }
    }

    /// The first answer from a socket that comes back, asked for at most ten seconds.
    private func firstAnswer(_ path: String) throws -> JSONValue? {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(10)
        while clock.now < end {
            do {
                return try ControlClient(path: path).request("GET", ["counts"]).body
            } catch ControlClientError.nothingRuns {
                _ = sched_yield()
            }
        }
        return nil
    }

    @Test("an end leaves alone what somebody put in the socket's place")
    func replaced() throws {
        let server = try ServerThread(path)
        unsafe rename(path, "\(path).old")
        Scratch.write("theirs", to: path)
        server.stop()
        #expect(Scratch.read(path) == "theirs")
    }
}
