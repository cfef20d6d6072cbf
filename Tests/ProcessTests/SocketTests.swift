import CProcess
import Glibc
import Testing

@Suite("Messages with credentials and descriptors", .timeLimit(.minutes(1)))
struct SocketTests {
    private let ends: [CInt]

    init() throws {
        var ends: [CInt] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0, &ends) == 0)
        self.ends = ends
        #expect(cproc_pass_credentials(ends[0]) == 0)
    }

    private func send(_ text: String, _ descriptors: [CInt] = []) -> CInt {
        unsafe cproc_send(ends[1], text, text.utf8.count, descriptors, descriptors.count)
    }

    private func receive(
        room: Int = 64, _ descriptors: inout [CInt]
    ) -> (error: CInt, text: String, message: cproc_message) {
        var bytes = [UInt8](repeating: 0, count: room)
        var message = cproc_message()
        let error = unsafe cproc_receive(
            ends[0], &bytes, bytes.count, &descriptors, descriptors.count, &message)
        return (error, String(decoding: bytes.prefix(message.length), as: UTF8.self), message)
    }

    @Test("who sent it, what was cut, and that there is no more")
    func plain() {
        defer { for end in ends { close(end) } }
        var none: [CInt] = []
        #expect(receive(&none).error == EAGAIN)
        #expect(send("READY=1") == 0)
        let first = receive(&none)
        #expect(first.error == 0 && first.text == "READY=1" && !first.message.truncated)
        #expect(first.message.has_credentials && first.message.credentials.pid == getpid())
        #expect(first.message.credentials.user == geteuid())
        #expect(send("a longer one") == 0)
        let second = receive(room: 4, &none)
        #expect(second.text == "a lo" && second.message.truncated)
        #expect(send("") == 0)
        #expect(receive(&none).message.length == 0)
    }

    @Test("PRC-40: descriptors that came along are handed over or closed")
    func descriptors() throws {
        defer { for end in ends { close(end) } }
        var pipe: [CInt] = [-1, -1]
        try #require(unsafe Glibc.pipe(&pipe) == 0)
        for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        #expect(send("x", Array(repeating: pipe[1], count: 5)) == 0)
        close(pipe[1])
        var some: [CInt] = [-1, -1]
        let got = receive(&some)
        #expect(got.message.descriptor_count == 2 && got.message.lost_descriptors)
        for descriptor in some {
            #expect(fcntl(descriptor, F_GETFD) == FD_CLOEXEC)
            close(descriptor)
        }
        // Every copy of ours is closed. A program of another test may hold one for a while.
        var watched = pollfd(fd: pipe[0], events: Int16(POLLIN), revents: 0)
        #expect(unsafe poll(&watched, 1, 20_000) == 1)
        #expect(watched.revents == Int16(POLLHUP))
        close(pipe[0])
        #expect(send("x", Array(repeating: 0, count: 254)) == EINVAL)
        #expect(send("x", Array(repeating: 0, count: 253)) == 0)
        var many = [CInt](repeating: -1, count: 253)
        #expect(receive(&many).message.descriptor_count == 253)
        for descriptor in many { close(descriptor) }
    }

    @Test("the peer of a connection")
    func peer() throws {
        for end in ends { close(end) }
        var pair: [CInt] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { for end in pair { close(end) } }
        var credentials = cproc_credentials()
        #expect(unsafe cproc_peer_credentials(pair[0], &credentials) == 0)
        #expect(credentials.pid == getpid() && credentials.user == geteuid())
        #expect(unsafe cproc_peer_credentials(-1, &credentials) == EBADF)
    }
}
