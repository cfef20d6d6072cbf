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
    private let files: any RecordFiles
    private let block: UInt64
    private var following: UInt64
    private var reserved: UInt64

    /// How many numbers are reserved at once.
    static let block: UInt64 = 1024
    /// No count of ours gets here: a number from here on was not written by us.
    static let limit = UInt64.max / 2

    /// - Parameter last: The highest number known from elsewhere; numbers start after it even if
    ///   the file was lost.
    init(
        in directory: String, after last: UInt64, through files: any RecordFiles, block: UInt64
    ) throws(ProjectError) {
        path = "\(directory)/incarnations"
        self.files = files
        self.block = block
        let stored = try Self.read(path, files)
        following = max(stored, last &+ 1, 1)
        reserved = following
    }

    mutating func next() throws(ProjectError) -> UInt64 {
        let number = following
        try use(number)
        return number
    }

    /// Lets a launch have `number`, and none that comes later. One that cannot be reserved is
    /// passed over: the next to ask has the one after it.
    mutating func use(_ number: UInt64) throws(ProjectError) {
        following = max(following, number + 1)
        guard number >= reserved else { return }
        try write(number + block)
        reserved = number + block
    }

    /// Gives back what was reserved and not used.
    mutating func settle() throws(ProjectError) {
        // Even if it fails, the file may say this from now on.
        reserved = following
        try write(following)
    }

    private func write(_ number: UInt64) throws(ProjectError) {
        try files.replace(path, with: Array("\(number)\n".utf8), durably: true)
    }

    /// A missing file means that nothing was launched yet; one that cannot be understood is an
    /// error, because starting at 1 would repeat numbers.
    private static func read(
        _ path: String, _ files: any RecordFiles
    ) throws(ProjectError) -> UInt64 {
        let found: [UInt8]?
        do { found = try files.content(of: path, atMost: 64) } catch {
            throw .system(doing: "read \(path)", error)
        }
        guard let content = found else { return 1 }
        let text = String(decoding: content.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard content.last == UInt8(ascii: "\n"), let value = UInt64(text), value < limit else {
            throw .system(
                doing: "read the count of launches from \(path) (to start again at 1, remove it)",
                SystemError("read", path, code: EINVAL))
        }
        return value
    }
}
