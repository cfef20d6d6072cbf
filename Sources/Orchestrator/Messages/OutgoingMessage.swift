import CLifecycle

/// A message of ours, written by the same C code as those of our clients.
struct OutgoingMessage {
    /// The longest message of ours, in bytes; text that does not fit is cut between characters.
    static let most = 1024

    private var bytes = [CChar](repeating: 0, count: Self.most)
    private var used = 0

    /// Adds a line; control characters of `text` become spaces.
    mutating func add(_ key: String, text: String) {
        // SAFETY: it writes within the room that is told, after what is used.
        used = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return used }
            return unsafe clc_write_text(start, Self.most, used, key, text)
        }
    }

    /// Adds a line with a number.
    mutating func add(_ key: String, number: UInt64) {
        // SAFETY: it writes within the room that is told, after what is used.
        used = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return used }
            return unsafe clc_write_number(start, Self.most, used, key, number)
        }
    }

    /// Sends it on a connected socket without waiting.
    /// - Returns: 1, or a negated error number.
    func send(on descriptor: CInt) -> Int32 {
        // SAFETY: the bytes that are used are read within the closure.
        unsafe bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            return unsafe clc_send(descriptor, start, used, -1, 0)
        }
    }

    /// Sends it to the datagram socket at `address`, waiting at most `wait` ms for room.
    /// - Returns: 1, or a negated error number.
    func send(to address: String, wait: Int32) -> Int32 {
        // SAFETY: the bytes that are used are read within the closure.
        unsafe bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            return unsafe clc_send_to(address, start, used, -1, wait)
        }
    }
}
