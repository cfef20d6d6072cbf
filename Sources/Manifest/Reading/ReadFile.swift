import Glibc
import Stoic

/// Why a file's bytes could not be had.
package enum FileFailure: Error {
    /// The system refused: the error number.
    case system(Int32)
    /// It is a directory, a pipe, a device: not something with an end.
    case notAFile(String)
    /// It is longer than the most we read, in bytes.
    case tooLong(most: Int)
    /// Somebody wrote to it while we read.
    case changing

    /// What follows "cannot read FILE: ".
    package var reason: String {
        switch self {
        case .system(let number): SystemError.meaning(of: number)
        case .notAFile(let kind): "it is \(kind), not a file"
        case .tooLong(let most): "it is longer than \(sizeText(UInt64(most)))"
        case .changing: "it changed while it was read; is something still writing it?"
        }
    }
}

/// The bytes of the regular file at `path`.
/// - Parameter most: A longer file is refused without being read to its end.
package func readFile(_ path: String, most: Int) throws(FileFailure) -> [UInt8] {
    // SAFETY: the path lives through the call; `read` is told how much room the array has.
    // Opening a pipe without O_NONBLOCK would wait for its writer, for ever.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw .system(errno) }
    defer { close(descriptor) }
    let before = try fileStatus(descriptor)
    guard before.st_mode & S_IFMT == S_IFREG else {
        throw .notAFile(before.st_mode & S_IFMT == S_IFDIR ? "a directory" : "a pipe or a device")
    }
    guard before.st_size <= most else { throw .tooLong(most: most) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Int(before.st_size))
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = unsafe read(descriptor, &chunk, chunk.count)
        if count < 0 && errno == EINTR { continue }
        guard count >= 0 else { throw .system(errno) }
        if count == 0 { break }
        bytes.append(contentsOf: chunk[..<count])
        guard bytes.count <= most else { throw .tooLong(most: most) }
    }
    let after = try fileStatus(descriptor)
    guard before.st_size == after.st_size, before.st_mtim.tv_sec == after.st_mtim.tv_sec,
        before.st_mtim.tv_nsec == after.st_mtim.tv_nsec
    else { throw .changing }
    return bytes
}

private func fileStatus(_ descriptor: CInt) throws(FileFailure) -> stat {
    // SAFETY: the call fills a variable of the size it expects, and keeps no pointer.
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .system(errno) }
    return status
}
