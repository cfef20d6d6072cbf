import CUV

/// What libuv, or the kernel behind it, answered to a call that failed.
public struct UVError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A negated errno value, as libuv returns it: `-EEXIST`, `-EPERM`.
    public let code: Int32
    /// The C function that answered, such as `uv_poll_init`.
    public let call: String

    /// An answer that was received elsewhere, or that the loop itself gives.
    public init(code: Int32, call: String) {
        self.code = code
        self.call = call
    }

    /// The call, the reason in words, and the code: `uv_poll_init: operation not permitted (-1)`.
    public var description: String {
        // SAFETY: a constant text of libuv; for a code it does not know, one that it never frees.
        let words = unsafe String(cString: uv_strerror(code))
        return "\(call): \(words) (\(code))"
    }
}

/// Turns a libuv result into a Swift error. Nothing else reads one.
func check(_ result: CInt, _ call: String) throws(UVError) {
    guard result >= 0 else { throw UVError(code: result, call: call) }
}
