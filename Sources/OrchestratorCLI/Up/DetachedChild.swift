import Glibc
internal import Synchronization

/// The background half of `up --detach`, as it sees its parent: a socket to report on, and a pipe
/// behind stdout and stderr that is read until then.
public enum DetachedChild {
    /// Where the parent waits for the report.
    static let reportDescriptor: CInt = 3
    /// What the report says when all is well; anything unknown is none.
    static let readyByte = UInt8(ascii: "R")
    /// What it says when another engine was faster.
    static let runsAlreadyByte = UInt8(ascii: "A")
    /// What it says when something cannot become ready and the rest runs on; the words follow.
    static let failedByte = UInt8(ascii: "F")
    /// Bytes of those words at most: the socket takes them without anybody reading.
    private static let mostWords = 16 << 10
    /// Whether the socket is still ours. Its number is not asked: once it is closed, whoever opens
    /// something next may get it.
    private static let isOpen = Mutex(true)

    /// Right at the start: no service inherits the socket, and a parent that was closed with its
    /// terminal cannot end us by not reading.
    static func prepare() {
        _ = fcntl(reportDescriptor, F_SETFD, FD_CLOEXEC)
        _ = signal(SIGPIPE, SIG_IGN)
    }

    /// Tells the parent that what it waits for has come, and lets go of its terminal: from now on
    /// stdout and stderr lead nowhere. Later calls do nothing.
    public static func report() { report([readyByte]) }

    /// Tells the parent what cannot become ready although the project goes on.
    static func reportFailure(_ words: String) {
        report([failedByte] + words.utf8.prefix(mostWords))
    }

    /// Tells the parent that another engine runs the project, and says nothing else.
    static func reportRunsAlready() { report([runsAlreadyByte]) }

    private static func report(_ words: [UInt8]) {
        let isFirst = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        guard isFirst, fcntl(reportDescriptor, F_GETFD) >= 0 else { return }
        // SAFETY: the bytes and the path are ours, and only read.
        var bytes = words
        // A parent that has left is no reason to stop: it was told what goes on without it.
        _ = unsafe send(reportDescriptor, &bytes, bytes.count, Int32(MSG_NOSIGNAL))
        let nowhere = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        if nowhere >= 0 {
            _ = dup2(nowhere, STDOUT_FILENO)
            _ = dup2(nowhere, STDERR_FILENO)
            if nowhere > STDERR_FILENO { close(nowhere) }
        }
        close(reportDescriptor)
    }
}
