import Stoic

/// What a service said, on its notify socket or its control channel, and was entitled to say.
package enum ServiceMessage: Hashable, Sendable {
    /// It can be used, or has finished a reload. `values` are all it ever sent as
    /// `VALUE_name=text`.
    case ready(values: [String: String])
    /// One line for people; control characters have become spaces. At most 4 KiB.
    case status(String)
    /// It is stopping: the answer to our message, or on its own account.
    case stopping
    /// It reads its config again; `ready` ends it.
    case reloading
    /// This process of its tree is the main one from now on.
    case mainPID(Int32)
    /// It is alive.
    case watchdogPing
    /// It asks to be treated as hung.
    case watchdogTrigger
    /// It says that it is alive at least this often from now on; `nil`: no more.
    case watchdogInterval(Duration?)
    /// It needs this much longer, from now on.
    case extendTimeout(Duration)
    /// Why it fails, as an error number.
    case errno(Int32)
    /// It listens on its control channel.
    case hello
    /// It closed its control channel: it hears nothing any more.
    case channelClosed
    /// Something was said that changes nothing: by whom it was not allowed, or in a form it does
    /// not have. `pid` is the sender's, 0 where unknown; `suppressed` is how many refusals before
    /// this one were not reported, because there were too many.
    case refused(reason: String, pid: Int32, suppressed: Int)
}

extension ServiceMessage {
    /// Whether each one leaves a record of an event, or may. READY ends what a reload began, so it
    /// is always heard, and says nothing new by itself.
    var isLoud: Bool {
        switch self {
        case .stopping, .reloading, .mainPID, .watchdogTrigger, .watchdogInterval, .extendTimeout:
            true
        case .ready, .status, .watchdogPing, .errno, .hello, .channelClosed, .refused: false
        }
    }
}

extension Duration {
    /// A number of microseconds from a message; a century is for ever.
    init(messageMicroseconds number: UInt64) {
        let (seconds, rest) = number.quotientAndRemainder(dividingBy: 1_000_000)
        self = (.seconds(Int64(clamping: seconds)) + .microseconds(Int64(rest))).clamped
    }

    /// Microseconds for a message, rounded up; zero for a negative duration.
    var messageMicroseconds: UInt64 {
        let (seconds, attoseconds) = max(clamped, .zero).components
        let rest = UInt64((attoseconds + 999_999_999_999) / 1_000_000_000_000)
        return UInt64(seconds) * 1_000_000 + rest
    }
}
