import Glibc
import Stoic

extension SystemError {
    /// A call that failed on a path or another thing, with this `errno`.
    init(_ call: String, _ subject: String, code: CInt) {
        self.init(errno: code, in: "\(call) \(subject)")
    }

    /// The failure of the call that returned just now on this thread.
    static func latest(_ call: String, _ subject: String) -> SystemError {
        SystemError(call, subject, code: errno)
    }
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
