import Glibc

/// A system call that failed: which one, on what, and why.
public struct SystemFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call, as its manual page names it.
    public let call: String
    /// The path or thing it was about.
    public let subject: String
    /// Its `errno`.
    public let code: CInt

    /// A failure with this `errno`.
    public init(_ call: String, _ subject: String, code: CInt) {
        self.call = call
        self.subject = subject
        self.code = code
    }

    /// The failure of the call that returned just now on this thread.
    static func latest(_ call: String, _ subject: String) -> SystemFailure {
        SystemFailure(call, subject, code: errno)
    }

    /// What the system says about `code`.
    public var reason: String { systemText(code) }

    public var description: String { "\(call) \(subject): \(reason)" }
}

/// The system's words for an error number.
func systemText(_ number: Int32) -> String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
}

/// Repeats a call that a signal interrupted. Its bound is the call's own.
func retryingInterrupts(_ call: () -> Int) -> Int {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}

/// Repeats a call that a signal interrupted. Its bound is the call's own.
func retryingInterrupts(_ call: () -> CInt) -> CInt {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}
