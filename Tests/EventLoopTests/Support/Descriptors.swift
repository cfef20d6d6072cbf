import EventLoop
import Glibc
import Testing

/// Two ends of something to read from and write to.
struct DescriptorPair: ~Copyable {
    let reading: OwnedDescriptor
    let writing: OwnedDescriptor

    static func pipe() throws -> DescriptorPair {
        var ends: [CInt] = [-1, -1]
        try #require(unsafe Glibc.pipe(&ends) == 0)
        for end in ends { try #require(fcntl(end, F_SETFD, FD_CLOEXEC) == 0) }
        return DescriptorPair(
            reading: OwnedDescriptor(owning: ends[0]), writing: OwnedDescriptor(owning: ends[1]))
    }

    static func datagramSockets() throws -> DescriptorPair {
        try sockets(of: CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue))
    }

    static func streamSockets() throws -> DescriptorPair {
        try sockets(of: CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue))
    }

    private static func sockets(of type: CInt) throws -> DescriptorPair {
        var ends: [CInt] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, type, 0, &ends) == 0)
        return DescriptorPair(
            reading: OwnedDescriptor(owning: ends[0]), writing: OwnedDescriptor(owning: ends[1]))
    }

    consuming func closeWriting() -> OwnedDescriptor { reading }
    consuming func closeReading() -> OwnedDescriptor { writing }
}

/// Writes `text` in one piece; returns how many bytes went, or the negated errno.
@discardableResult
func send(_ text: String, to descriptor: CInt) -> Int {
    let bytes = Array(text.utf8)
    let count = unsafe write(descriptor, bytes, bytes.count)
    return count < 0 ? -Int(errno) : count
}

/// Reads once, at most 64 bytes; an empty text at the end, `nil` on an error.
func receive(from descriptor: CInt) -> String? {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    guard count >= 0 else { return nil }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
}

/// How many descriptors this process has open.
func openDescriptorCount() throws -> Int {
    let directory = try unsafe #require(unsafe opendir("/proc/self/fd"))
    defer { unsafe closedir(directory) }
    var count = 0
    while unsafe readdir(directory) != nil { count += 1 }
    return count
}
