import CLifecycle
import EventLoop
import Glibc
import Testing

@testable import Orchestrator

@discardableResult
private func send(_ text: String, to path: String) -> Int32 {
    unsafe clc_send_to(path, text, text.utf8.count, -1, 0)
}

@Suite("notify sockets", .timeLimit(.minutes(1)))
struct NotifySocketTests {
    @Test("a message of the service is heard, and the socket is private")
    func heard() throws {
        let bench = try Bench()
        let socket = try bench.socket()
        var status = stat()
        #expect(unsafe lstat(socket.path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(send("READY=1\nSTATUS=up", to: socket.path) == 1)
        #expect(try bench.run { bench.messages.count == 2 })
        #expect(bench.messages == [.ready(values: [:]), .status("up")])
        socket.close()
        #expect(unsafe lstat(socket.path, &status) != 0)
        socket.close()
        bench.close()
    }

    @Test("each socket has a name of its own")
    func names() throws {
        let bench = try Bench()
        let sockets = try (0..<20).map { _ in try bench.socket() }
        #expect(Set(sockets.map(\.path)).count == 20)
        for socket in sockets { socket.close() }
        bench.close()
    }

    @Test("RDY-9: a path of 107 bytes works, a longer one is refused whole", arguments: 107...109)
    func pathLength(_ length: Int) throws {
        let bench = try Bench()
        let fill = length - bench.directory.utf8.count - 2 - NotifySocket.nameLength
        let directory = "\(bench.directory)/\(String(repeating: "d", count: fill))"
        #expect(unsafe mkdir(directory, 0o700) == 0)
        #expect(NotifySocket.fits(in: directory) == (length == 107))
        do {
            let socket = try NotifySocket(
                bench.loop, directory: directory, owner: geteuid(), isMember: { _ in true },
                onMessage: { bench.messages.append($0) })
            #expect(length == 107 && socket.path.utf8.count == 107)
            #expect(send("READY=1", to: socket.path) == 1)
            socket.drain()
            #expect(bench.messages == [.ready(values: [:])])
            socket.close()
        } catch {
            guard case .pathTooLong(let path) = error else { throw error }
            #expect(length > 107 && path.utf8.count == length)
            #expect("\(error)".contains("107 bytes, this one has \(length)"))
        }
        // Nothing under a shortened name is left.
        #expect(unsafe rmdir(directory) == 0)
        bench.close()
    }

    @Test("RDY-10: a living process that is not of the service is refused, with its pid")
    func foreignSender() throws {
        let bench = try Bench()
        let socket = try bench.socket(isMember: { _ in false })
        send("READY=1", to: socket.path)
        socket.drain()
        let expected = ServiceMessage.refused(
            reason: "a process that is not of this service", pid: getpid(), suppressed: 0)
        #expect(bench.messages == [expected])
        socket.close()
        bench.close()
    }

    @Test("RDY-8: refusals nobody was told about are counted when the socket closes")
    func suppressed() throws {
        let bench = try Bench()
        let socket = try bench.socket()
        for _ in 0..<9 {
            send("FDSTORE=1", to: socket.path)
            socket.drain()
        }
        #expect(bench.refusals.count == 5)
        socket.close()
        #expect(
            bench.messages.last == .refused(reason: "more of the same", pid: 0, suppressed: 3))
        bench.close()
    }

    @Test("RDY-2: malformed datagrams change nothing, and a correct one works at once")
    func malformed() throws {
        let bench = try Bench()
        let socket = try bench.socket()
        let long = String(repeating: "x", count: 70_000)
        for text in ["", "\0\0", long, "READY=11", "X READY=1", "WATCHDOG_USEC=-1"] {
            #expect(send(text, to: socket.path) == 1)
            socket.drain()
        }
        #expect(bench.messages.allSatisfy { if case .refused = $0 { true } else { false } })
        #expect(bench.refusals.contains("a message of more than 65536 bytes"))
        send("READY=1", to: socket.path)
        socket.drain()
        #expect(bench.messages.last == .ready(values: [:]))
        socket.close()
        bench.close()
    }

    @Test("a message may close the socket it came from")
    func closesItself() throws {
        let bench = try Bench()
        var heard = 0
        var own: NotifySocket?
        let socket = try NotifySocket(
            bench.loop, directory: bench.directory, owner: geteuid(), isMember: { _ in true }
        ) { _ in
            heard += 1
            own?.close()
        }
        own = socket
        send("WATCHDOG=1\nWATCHDOG=1", to: socket.path)
        send("READY=1", to: socket.path)
        #expect(try bench.run { heard > 0 })
        #expect(heard == 1)
        bench.close()
    }
}

@Suite("barriers and descriptors", .timeLimit(.minutes(1)))
struct BarrierTests {
    @Test("RDY-12: a thousand barriers are answered and leave no descriptor")
    func barriers() async {
        await #expect(processExitsWith: .success) {
            let bench = try Bench()
            let socket = try bench.socket()
            let before = openDescriptors()
            for _ in 0..<1000 {
                var ends: [CInt] = [-1, -1]
                #expect(unsafe pipe(&ends) == 0)
                let text = "BARRIER=1"
                let sent = unsafe clc_send_to(socket.path, text, text.utf8.count, ends[1], 0)
                #expect(sent == 1)
                close(ends[1])
                socket.drain()
                var entry = pollfd(fd: ends[0], events: 0, revents: 0)
                #expect(unsafe poll(&entry, 1, 0) == 1, "the barrier was not answered")
                close(ends[0])
            }
            #expect(noneIsLeft(since: before))
            // The instrument sees a leak.
            let leak = fcntl(0, F_DUPFD, 500)
            #expect(!openDescriptors().isSubset(of: before))
            close(leak)
            #expect(bench.messages.isEmpty)
            socket.close()
            bench.close()
        }
    }

    @Test("RDY-13: a descriptor to keep is closed and refused")
    func descriptorStore() async {
        await #expect(processExitsWith: .success) {
            let bench = try Bench()
            let socket = try bench.socket()
            let before = openDescriptors()
            let text = "FDSTORE=1\nFDNAME=a"
            #expect(unsafe clc_send_to(socket.path, text, text.utf8.count, 0, 0) == 1)
            socket.drain()
            #expect(bench.refusals.first?.hasPrefix("FDSTORE=1") == true)
            #expect(noneIsLeft(since: before))
            socket.close()
            bench.close()
        }
    }
}
