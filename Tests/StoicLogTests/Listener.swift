import Glibc

/// A datagram socket at a path, as the journal and syslog have one.
final class Listener {
    let path: String
    private let descriptor: Int32

    init() throws {
        var template = Array("/tmp/stoic-log-XXXXXX".utf8.map { CChar(bitPattern: $0) }) + [0]
        guard unsafe mkdtemp(&template) != nil else { throw Failure(number: errno) }
        path =
            String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            + "/socket"
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = path
        unsafe withUnsafeMutableBytes(of: &address.sun_path) {
            unsafe $0.copyBytes(from: name.utf8)
        }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let open = descriptor
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(open, $0, size)
            }
        }
        guard result == 0 else { throw Failure(number: errno) }
    }

    deinit {
        close(descriptor)
        unsafe unlink(path)
        unsafe rmdir(String(path.dropLast("/socket".count)))
    }

    struct Failure: Error { let number: Int32 }

    /// The next message: its bytes, or the contents of the file that was sent in their place.
    func receive() throws -> [UInt8] {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, 10_000) == 1 else { throw Failure(number: ETIMEDOUT) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let space = MemoryLayout<cmsghdr>.size + MemoryLayout<Int>.size
        let control = UnsafeMutableRawPointer.allocate(byteCount: space, alignment: 8)
        defer { unsafe control.deallocate() }
        unsafe control.initializeMemory(as: UInt8.self, repeating: 0, count: space)
        var message = unsafe msghdr()
        unsafe message.msg_control = control
        unsafe message.msg_controllen = space
        let open = descriptor
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            var part = unsafe iovec(iov_base: buffer.baseAddress, iov_len: buffer.count)
            return unsafe withUnsafeMutablePointer(to: &part) { pointer in
                unsafe message.msg_iov = pointer
                unsafe message.msg_iovlen = 1
                return unsafe recvmsg(open, &message, 0)
            }
        }
        guard count >= 0 else { throw Failure(number: errno) }
        let hasFile = unsafe message.msg_controllen >= MemoryLayout<cmsghdr>.size + 4
        guard count == 0, hasFile else { return Array(bytes.prefix(count)) }
        let file = unsafe control.load(fromByteOffset: MemoryLayout<cmsghdr>.size, as: Int32.self)
        defer { close(file) }
        return Self.contents(of: file)
    }

    private static func contents(of file: Int32) -> [UInt8] {
        lseek(file, 0, SEEK_SET)
        var all: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe read(file, &bytes, bytes.count)
            guard count > 0 else { return all }
            all += bytes.prefix(count)
        }
    }
}
