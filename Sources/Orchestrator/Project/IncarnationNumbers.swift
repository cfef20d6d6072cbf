internal import EventLoop
import Glibc
import Stoic

/// Numbers launches so that no number is ever used twice in a project.
///
/// The file holds a number that no launch has reached yet. It is moved on, durably, a block at a
/// time and before the first number of the block is used; so a killed engine wastes the rest of a
/// block and never lets its successor repeat a number, and only one launch in `block` waits for
/// the disk.
struct IncarnationNumbers {
    private let path: String
    private var following: UInt64
    private var reserved: UInt64

    /// How many numbers are reserved at once.
    static let block: UInt64 = 1024

    /// - Parameter last: The highest number known from elsewhere; numbers start after it even if
    ///   the file was lost.
    init(in directory: String, after last: UInt64) throws(ProjectError) {
        path = "\(directory)/incarnations"
        let stored = try Self.read(path)
        following = max(stored, last &+ 1, 1)
        reserved = following
    }

    mutating func next() throws(ProjectError) -> UInt64 {
        if following == reserved {
            try write(reserved + Self.block)
            reserved += Self.block
        }
        defer { following += 1 }
        return following
    }

    /// Gives back what was reserved and not used.
    mutating func settle() throws(ProjectError) {
        try write(following)
        reserved = following
    }

    private func write(_ number: UInt64) throws(ProjectError) {
        try replaceFile(path, with: Array("\(number)\n".utf8), durably: true)
    }

    /// A missing file means that nothing was launched yet; one that cannot be understood is an
    /// error, because starting at 1 would repeat numbers.
    private static func read(_ path: String) throws(ProjectError) -> UInt64 {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if number < 0, errno == ENOENT { return 1 }
        guard number >= 0 else {
            throw .system(doing: "read \(path)", .latest("open", path))
        }
        let file = OwnedDescriptor(owning: number)
        guard let content = bytes(of: file.number, atMost: 64) else {
            throw .system(doing: "read \(path)", .latest("read", path))
        }
        let text = String(decoding: content.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard content.last == UInt8(ascii: "\n"), let value = UInt64(text), value < .max / 2 else {
            throw .system(
                doing: "read the count of launches from \(path) (to start again at 1, remove it)",
                SystemError("read", path, code: EINVAL))
        }
        return value
    }
}

/// Puts a new file in place of whatever has the name; at every moment the name means the whole old
/// content or the whole new one.
///
/// - Parameter durably: Whether it has to survive a loss of power from now on.
func replaceFile(
    _ path: String, with content: [UInt8], durably: Bool
) throws(ProjectError) {
    let draft = "\(path).new"
    unsafe unlink(draft)
    let number = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard number >= 0 else {
        throw .system(doing: "write \(path)", .latest("open", draft))
    }
    let file = OwnedDescriptor(owning: number)
    var written = 0
    while written < content.count {
        let count = retryingInterrupts {
            unsafe content[written...].withUnsafeBytes {
                unsafe write(number, $0.baseAddress, $0.count)
            }
        }
        guard count > 0 else { throw .system(doing: "write \(path)", .latest("write", draft)) }
        written += count
    }
    if durably, fsync(file.number) != 0 {
        throw .system(doing: "write \(path)", .latest("fsync", draft))
    }
    guard unsafe rename(draft, path) == 0 else {
        throw .system(doing: "write \(path)", .latest("rename", draft))
    }
    if durably { syncDirectory(of: path) }
}

/// Makes a rename durable. File systems that cannot do that for a directory say so; the file
/// itself is safe already, so that is no failure.
private func syncDirectory(of path: String) {
    let parent = path.split(separator: "/").dropLast().joined(separator: "/")
    let number = unsafe open("/\(parent)", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { return }
    fsync(number)
    close(number)
}
