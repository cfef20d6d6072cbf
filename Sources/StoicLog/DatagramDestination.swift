import Glibc
import Stoic
import Synchronization

/// A datagram socket to a path, opened again when the other side was.
final class DatagramDestination: Sendable {
    private let path: String
    private let descriptor = Mutex<Int32>(-1)

    init(_ path: String) { self.path = path }

    deinit {
        let number = descriptor.withLock { $0 }
        if number >= 0 { close(number) }
    }

    /// Sends one datagram; one that is too large goes as a sealed memory file, whose descriptor is
    /// sent in its place.
    func send(_ bytes: [UInt8]) -> BackgroundWriter.Outcome {
        descriptor.withLock { number in
            if number < 0 { number = Self.connect(to: path) }
            guard number >= 0 else { return .failed(errno) }
            // SAFETY: `send` only reads the array's bytes, within the closure.
            let sent = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.send(
                    number, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            if sent >= 0 { return .written }
            let error = errno
            if error == EMSGSIZE || error == ENOBUFS {
                return MemoryFile.send(bytes, through: number)
            }
            // Whoever listened may have started again: the next line tries a new connection.
            close(number)
            number = -1
            return .failed(error)
        }
    }

    private static func connect(to path: String) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < room else {
            errno = ENAMETOOLONG
            return -1
        }
        // SAFETY: the path was found to fit, with a zero behind it; a `sockaddr_un` is what the
        // kernel expects behind the general type, and it gets its true size.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) {
            unsafe $0.copyBytes(from: path.utf8)
        }
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return -1 }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(number, $0, size)
            }
        }
        guard result == 0 else {
            let error = errno
            close(number)
            errno = error
            return -1
        }
        return number
    }
}
