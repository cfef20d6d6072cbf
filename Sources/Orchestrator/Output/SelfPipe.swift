import Stoic

internal import CProcess
internal import EventLoop
internal import Glibc

/// A pipe by which one thread tells another that there is something to look at.
final class SelfPipe: Sendable {
    private let readEnd: OwnedDescriptor
    private let writeEnd: OwnedDescriptor

    init() throws(SystemError) {
        var ours: Int32 = -1
        var theirs: Int32 = -1
        // SAFETY: it fills two numbers, and keeps no pointer.
        let error = unsafe cproc_pipe(&ours, &theirs)
        guard error == 0 else { throw SystemError("make", "a pipe", code: error) }
        readEnd = OwnedDescriptor(owning: ours)
        writeEnd = OwnedDescriptor(owning: theirs)
        guard fcntl(theirs, F_SETFL, O_NONBLOCK) == 0 else {
            throw SystemError("set up", "a pipe", code: errno)
        }
    }

    /// Ends a `wait`, or the next one. Never waits: a full pipe has said it already.
    func signal() {
        var byte: UInt8 = 0
        // SAFETY: there is the one byte that is written.
        _ = unsafe write(writeEnd.number, &byte, 1)
    }

    /// Waits for a signal, at most so long (negative: as long as it takes), and takes all that
    /// came.
    func wait(milliseconds: Int32) {
        var entry = pollfd(fd: readEnd.number, events: Int16(POLLIN), revents: 0)
        // SAFETY: `poll` gets one entry, and `read` is told how much room the array has.
        guard unsafe poll(&entry, 1, milliseconds) > 0 else { return }
        var bytes = [UInt8](repeating: 0, count: 64)
        _ = unsafe read(readEnd.number, &bytes, bytes.count)
    }
}
