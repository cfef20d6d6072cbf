import Glibc

/// A number that a thread waits for, without the pool of tasks.
final class BlockingResult: Sendable {
    private let pipe = Pipe(blocks: true)

    deinit { pipe.close() }

    func finish(_ code: Int32) {
        // SAFETY: `write` reads one byte, and gets one.
        var byte = UInt8(truncatingIfNeeded: code)
        _ = unsafe write(pipe.write, &byte, 1)
    }

    func wait() -> Int32 {
        // SAFETY: `read` writes at most one byte, and has room for one.
        var byte: UInt8 = 0
        while unsafe read(pipe.read, &byte, 1) != 1 {
            guard errno == EINTR else { return 70 }
        }
        return Int32(byte)
    }
}
