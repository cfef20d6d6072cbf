import Glibc

/// Bytes on their way to one client, in order. Whoever adds bounds how much.
struct OutputQueue {
    private var bytes: [UInt8] = []
    private var sent = 0

    /// How many bytes wait.
    var count: Int { bytes.count - sent }
    /// Whether none wait.
    var isEmpty: Bool { bytes.count == sent }

    /// What became of a try to send.
    enum Outcome {
        /// This many bytes left; 0 when the kernel takes none now.
        case progress(Int)
        /// Nobody takes them any more.
        case gone
    }

    /// Adds bytes at the end.
    mutating func append(_ more: [UInt8]) {
        if sent > bytes.count / 2 {
            bytes.removeSubrange(..<sent)
            sent = 0
        }
        bytes += more
    }

    /// Sends what the kernel takes at once. A peer that is gone raises no SIGPIPE. An idle queue
    /// holds no memory.
    mutating func send(to descriptor: CInt) -> Outcome {
        let flags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
        var total = 0
        while !isEmpty {
            // SAFETY: the bytes are read within the closure.
            let count = retryingInterrupts {
                unsafe bytes[sent...].withUnsafeBytes {
                    unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, flags)
                }
            }
            guard count > 0 else {
                return count < 0 && errno != EAGAIN ? .gone : .progress(total)
            }
            sent += count
            total += count
        }
        bytes = []
        sent = 0
        return .progress(total)
    }
}
