import Glibc

/// The two ends of a pipe, closed on exec.
struct Pipe: Sendable {
    let read: Int32
    let write: Int32

    /// A pipe, whose reads and writes do not wait if `blocks` is false. Without one there is no way
    /// to hear a signal: the process stops with the reason.
    init(blocks: Bool) {
        // SAFETY: `pipe` writes two numbers, and there is room for two.
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else {
            preconditionFailure("cannot make a pipe: error \(errno)")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            if !blocks { _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK) }
        }
        read = ends[0]
        write = ends[1]
    }

    func close() {
        Glibc.close(read)
        Glibc.close(write)
    }
}
