import Glibc
import Stoic

/// A message too large for a datagram, as a file in memory that nobody can open by name: the
/// journal takes its descriptor in place of the bytes.
enum MemoryFile {
    static func send(_ bytes: [UInt8], through socket: Int32) -> BackgroundWriter.Outcome {
        // SAFETY: the template ends with a zero, and `mkstemp` changes its letters in place.
        var template = Array("/dev/shm/stoic-XXXXXX".utf8.map { CChar(bitPattern: $0) }) + [0]
        let file = unsafe mkstemp(&template)
        guard file >= 0 else { return .failed(errno) }
        defer { close(file) }
        unsafe unlink(template)
        if case .failed(let number) = BackgroundWriter.write(bytes, to: file) {
            return .failed(number)
        }
        return pass(file, through: socket)
    }

    /// Sends nothing but a descriptor.
    private static func pass(_ file: Int32, through socket: Int32) -> BackgroundWriter.Outcome {
        // SAFETY: the memory is ours until the end of the function, holds a header and a
        // descriptor, and `sendmsg` only reads what `message` points to.
        // CMSG_SPACE and CMSG_LEN are macros: a header, then one descriptor, padded to words.
        let header = MemoryLayout<cmsghdr>.size
        let length = header + MemoryLayout<Int32>.size
        let space = header + MemoryLayout<Int>.size
        let control = UnsafeMutableRawPointer.allocate(
            byteCount: space, alignment: MemoryLayout<cmsghdr>.alignment)
        defer { unsafe control.deallocate() }
        unsafe control.initializeMemory(as: UInt8.self, repeating: 0, count: space)
        var front = cmsghdr()
        front.cmsg_len = length
        front.cmsg_level = SOL_SOCKET
        front.cmsg_type = Int32(SCM_RIGHTS)
        unsafe control.storeBytes(of: front, as: cmsghdr.self)
        unsafe control.storeBytes(of: file, toByteOffset: header, as: Int32.self)
        var message = unsafe msghdr()
        unsafe message.msg_control = control
        unsafe message.msg_controllen = space
        let sent = unsafe sendmsg(socket, &message, Int32(MSG_NOSIGNAL))
        return sent >= 0 ? .written : .failed(errno)
    }
}
