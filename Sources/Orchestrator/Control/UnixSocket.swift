import Glibc

/// Who is at the other end of a connection, as the kernel noted it when it was made.
public struct ControlPeer: Hashable, Sendable, CustomStringConvertible {
    /// Its process; 0 when that is in a process namespace we cannot see.
    public let pid: Int32
    /// Its user.
    public let uid: UInt32
    /// Its group.
    public let gid: UInt32

    /// A peer from its parts.
    public init(pid: Int32, uid: UInt32, gid: UInt32) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
    }

    public var description: String { "pid \(pid) of uid \(uid)" }
}

/// Stream sockets of the Unix domain, by path.
enum UnixSocket {
    /// A new socket, closed on exec; `nil` sets `errno`.
    static func make(isBlocking: Bool) -> CInt? {
        let flags = SOCK_CLOEXEC.rawValue | (isBlocking ? 0 : SOCK_NONBLOCK.rawValue)
        let number = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | flags), 0)
        return number < 0 ? nil : number
    }

    /// Binds to a path.
    ///
    /// - Returns: 0 or an `errno`; `ENAMETOOLONG` for a path that does not fit. It is never cut.
    static func bind(_ descriptor: CInt, to path: String) -> CInt {
        // SAFETY: the address lives through the closure, and has the length that is told.
        unsafe withAddress(of: path) { address, length in
            unsafe Glibc.bind(descriptor, address, length) == 0 ? 0 : errno
        }
    }

    /// Connects to a path. A blocking socket waits as long as its `SO_SNDTIMEO` says.
    ///
    /// - Returns: 0 or an `errno`; `ENAMETOOLONG` for a path that does not fit. It is never cut.
    static func connect(_ descriptor: CInt, to path: String) -> CInt {
        // SAFETY: the address lives through the closure, and has the length that is told.
        unsafe withAddress(of: path) { address, length in
            let result = retryingInterrupts { unsafe Glibc.connect(descriptor, address, length) }
            return result == 0 ? 0 : errno
        }
    }

    /// Who is at the other end (`SO_PEERCRED`). `struct ucred` is three numbers of 32 bits.
    static func peer(of descriptor: CInt) -> ControlPeer? {
        // SAFETY: the kernel is told that there is room for twelve bytes, and there is.
        var words: [UInt32] = [0, 0, 0]
        var length = socklen_t(12)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &words, &length) == 0,
            length == 12
        else { return nil }
        return ControlPeer(pid: Int32(bitPattern: words[0]), uid: words[1], gid: words[2])
    }

    private static func withAddress(
        of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, !bytes.contains(0) else { return EINVAL }
        guard bytes.count <= ProjectDirectories.socketPathLimit else { return ENAMETOOLONG }
        // SAFETY: the path was found to fit, with a zero behind it; the kernel expects a
        // `sockaddr_un` behind the general type, and gets its true size.
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
