/// What the error numbers of Linux mean, as `errno(3)` and `getaddrinfo(3)` list them.
///
/// The numbers are those of the kernel's generic table, which x86-64, AArch64 and RISC-V share; a
/// test compares them with the C library's.
enum SystemErrorTable {
    typealias Entry = SystemError.Entry

    /// Error numbers of system calls.
    static let calls: [Int32: Entry] = byCode([
        Entry(1, "EPERM", .permanent, "this process may not do that"),
        Entry(2, "ENOENT", .permanent, "there is no such file or directory"),
        Entry(3, "ESRCH", .permanent, "there is no such process"),
        Entry(4, "EINTR", .transient, "a signal interrupted the call"),
        Entry(5, "EIO", .permanent, "the device failed"),
        Entry(6, "ENXIO", .permanent, "there is no such device, or nobody reads it"),
        Entry(7, "E2BIG", .permanent, "the arguments or the environment are too long"),
        Entry(8, "ENOEXEC", .permanent, "the file is not a program"),
        Entry(9, "EBADF", .contract, "the descriptor is not open, or not open for this"),
        Entry(10, "ECHILD", .permanent, "there is no child to wait for"),
        Entry(11, "EAGAIN", .transient, "it would have to wait; try again"),
        Entry(12, "ENOMEM", .resource, "there is no memory left"),
        Entry(13, "EACCES", .permanent, "permission denied"),
        Entry(14, "EFAULT", .contract, "an address is not valid"),
        Entry(15, "ENOTBLK", .permanent, "it is not a block device"),
        Entry(16, "EBUSY", .transient, "it is in use"),
        Entry(17, "EEXIST", .permanent, "it exists already"),
        Entry(18, "EXDEV", .permanent, "the two are on different file systems"),
        Entry(19, "ENODEV", .permanent, "there is no such device"),
        Entry(20, "ENOTDIR", .permanent, "a part of the path is not a directory"),
        Entry(21, "EISDIR", .permanent, "it is a directory"),
        Entry(22, "EINVAL", .permanent, "an argument is not valid"),
        Entry(23, "ENFILE", .resource, "the system has no file descriptors left"),
        Entry(24, "EMFILE", .resource, "this process has no file descriptors left"),
        Entry(25, "ENOTTY", .permanent, "it is not a terminal"),
        Entry(26, "ETXTBSY", .transient, "the program is being written"),
        Entry(27, "EFBIG", .permanent, "the file would be too large"),
        Entry(28, "ENOSPC", .resource, "the disk is full"),
        Entry(29, "ESPIPE", .contract, "it has no position to seek to"),
        Entry(30, "EROFS", .permanent, "the file system is read-only"),
        Entry(31, "EMLINK", .permanent, "there are too many links"),
        Entry(32, "EPIPE", .transient, "nobody reads the other end"),
        Entry(33, "EDOM", .permanent, "a number is outside of what the function takes"),
        Entry(34, "ERANGE", .permanent, "the result is too large"),
        Entry(35, "EDEADLK", .contract, "the lock would wait for itself"),
        Entry(36, "ENAMETOOLONG", .permanent, "the name is too long"),
        Entry(37, "ENOLCK", .resource, "there are no locks left"),
        Entry(38, "ENOSYS", .permanent, "this kernel does not have the call"),
        Entry(39, "ENOTEMPTY", .permanent, "the directory is not empty"),
        Entry(40, "ELOOP", .permanent, "there are too many symbolic links on the path"),
        Entry(71, "EPROTO", .permanent, "the other side broke the protocol"),
        Entry(75, "EOVERFLOW", .permanent, "the value does not fit"),
        Entry(88, "ENOTSOCK", .contract, "the descriptor is not a socket"),
        Entry(89, "EDESTADDRREQ", .contract, "the socket has no destination"),
        Entry(90, "EMSGSIZE", .permanent, "the message is too long"),
        Entry(93, "EPROTONOSUPPORT", .permanent, "the protocol is not supported"),
        Entry(95, "EOPNOTSUPP", .permanent, "the operation is not supported"),
        Entry(97, "EAFNOSUPPORT", .permanent, "the address family is not supported"),
        Entry(98, "EADDRINUSE", .permanent, "the address is in use"),
        Entry(99, "EADDRNOTAVAIL", .permanent, "the address is not one of this machine"),
        Entry(100, "ENETDOWN", .transient, "the network is down"),
        Entry(101, "ENETUNREACH", .transient, "there is no route to the network"),
        Entry(102, "ENETRESET", .transient, "the network dropped the connection"),
        Entry(103, "ECONNABORTED", .transient, "the connection was aborted"),
        Entry(104, "ECONNRESET", .transient, "the other side reset the connection"),
        Entry(105, "ENOBUFS", .transient, "there is no buffer space left"),
        Entry(106, "EISCONN", .contract, "the socket is connected already"),
        Entry(107, "ENOTCONN", .permanent, "the socket is not connected"),
        Entry(110, "ETIMEDOUT", .transient, "the other side did not answer in time"),
        Entry(111, "ECONNREFUSED", .transient, "nobody listens there"),
        Entry(112, "EHOSTDOWN", .transient, "the host is down"),
        Entry(113, "EHOSTUNREACH", .transient, "there is no route to the host"),
        Entry(114, "EALREADY", .transient, "it is under way already"),
        Entry(115, "EINPROGRESS", .transient, "it is under way"),
        Entry(116, "ESTALE", .transient, "the network file handle is out of date"),
        Entry(122, "EDQUOT", .resource, "the quota is used up"),
        Entry(125, "ECANCELED", .permanent, "it was cancelled"),
    ])

    /// What `getaddrinfo` returns.
    static let lookups: [Int32: Entry] = byCode([
        Entry(
            -1, "EAI_BADFLAGS", .contract, "the look-up was asked for with unknown flags"),
        Entry(-2, "EAI_NONAME", .permanent, "there is no such host name"),
        Entry(-3, "EAI_AGAIN", .transient, "the name server did not answer for now"),
        Entry(-4, "EAI_FAIL", .permanent, "the name server failed for good"),
        Entry(-6, "EAI_FAMILY", .permanent, "the address family is not supported"),
        Entry(-7, "EAI_SOCKTYPE", .contract, "the socket type is not supported"),
        Entry(-8, "EAI_SERVICE", .permanent, "the service has no port of this kind"),
        Entry(-10, "EAI_MEMORY", .resource, "there is no memory left"),
        Entry(-11, "EAI_SYSTEM", .permanent, "the system refused the look-up"),
        Entry(-12, "EAI_OVERFLOW", .permanent, "the name is too long"),
    ])

    /// What libuv returns for a failed look-up, as the code of `getaddrinfo` it stands for; its
    /// other codes are negated error numbers.
    static let lookupsOfLibuv: [Int32: Int32] = [
        -3_000: -1, -3_001: -3, -3_002: -1, -3_004: -4, -3_005: -6, -3_006: -10, -3_007: -2,
        -3_008: -2, -3_009: -12, -3_010: -8, -3_011: -7,
    ]

    private static func byCode(_ entries: [Entry]) -> [Int32: Entry] {
        Dictionary(entries.map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
