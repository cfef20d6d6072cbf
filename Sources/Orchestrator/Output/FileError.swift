internal import Glibc

/// Why a file of ours cannot be used: the call that failed, on what, and the errno.
public struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call: `open`, `write`, `rename` …
    public let call: String
    /// What it was about.
    public let path: String
    /// The errno.
    public let code: Int32

    /// A failure with its errno.
    public init(_ call: String, _ path: String, code: Int32) {
        self.call = call
        self.path = path
        self.code = code
    }

    public var description: String { "cannot \(call) \(path): \(errnoText(code))" }
}

/// What the system says about an errno.
func errnoText(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
}
