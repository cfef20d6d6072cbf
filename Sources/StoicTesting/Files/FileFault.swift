/// The calls of a `SimulatedFileSystem`.
public enum FileCall: String, Hashable, Sendable, CaseIterable {
    /// Opens, and perhaps creates, a file or a directory.
    case open
    /// Reads from a file.
    case read
    /// Writes into a file.
    case write
    /// Makes a file's content, or a directory's names, survive a crash.
    case sync
    /// Gives a file another name.
    case rename
    /// Takes a file's name away.
    case unlink
    /// Reads the names in a directory.
    case list
}

/// What goes wrong with certain calls.
public struct FileFault: Sendable {
    enum Effect: Sendable {
        case fail(errno: Int32)
        case tear(keeping: Int, errno: Int32?)
    }

    let call: FileCall
    let calls: ArmedFault.Calls
    let effect: Effect

    /// The call does nothing but fail. A `sync` that fails loses what it should have saved for
    /// good, as on Linux: a later one that succeeds does not bring it back.
    /// - Parameters:
    ///   - call: Which kind of call.
    ///   - calls: Which of them, counted from when the fault was armed.
    ///   - errno: What it fails with: `ENOSPC`, `EIO`, ….
    public static func fail(
        _ call: FileCall, _ calls: ArmedFault.Calls = .always, errno: Int32
    ) -> FileFault {
        FileFault(call: call, calls: calls, effect: .fail(errno: errno))
    }

    /// A write takes only the first bytes: it returns how many, or fails after them.
    /// - Parameters:
    ///   - calls: Which writes, counted from when the fault was armed.
    ///   - keeping: How many bytes are written, if there are so many.
    ///   - errno: What it fails with; `nil` if it returns the number of bytes written.
    public static func tearWrite(
        _ calls: ArmedFault.Calls, keeping: Int, errno: Int32? = nil
    ) -> FileFault {
        FileFault(call: .write, calls: calls, effect: .tear(keeping: keeping, errno: errno))
    }
}

/// What a crash does to what was not synced.
public enum CrashLoss: Hashable, Sendable {
    /// All of it is lost.
    case everything
    /// None of it is lost.
    case nothing
    /// Names survive and contents do not: a renamed file is there, and empty.
    case contents
    /// Contents survive and names do not.
    case names
    /// Of each directory the first so many changes survive, of each file the first so many writes,
    /// the last of them perhaps torn in the middle.
    case torn(seed: UInt64)

    /// What a routine that claims to survive a crash should survive.
    public static let all: [CrashLoss] =
        [.everything, .nothing, .contents, .names] + (0..<8).map { .torn(seed: $0) }
}

/// The machine went down: this call and all after it fail, until the file system is restarted.
public struct SimulatedCrash: Error, Hashable, Sendable {
    /// The number of the call before which it went down; the first is 1.
    public let call: Int

    /// The machine goes down before this call.
    public init(call: Int) { self.call = call }
}
