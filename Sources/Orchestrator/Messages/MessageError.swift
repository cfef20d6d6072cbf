import CLifecycle
package import EventLoop
import Glibc
import Stoic

/// Why a notify socket or a control channel could not be made.
package enum MessageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path is longer than the kernel takes. It would bind a shortened name.
    case pathTooLong(String)
    /// A call failed with this error number; the words complete "cannot …".
    case system(String, Int32)
    /// The loop refused to watch it.
    case loop(UVError)

    package var description: String {
        switch self {
        case .pathTooLong(let path):
            """
            cannot bind "\(path)": a socket's path has at most \(CLC_PATH_MAX) bytes, this one has \
            \(path.utf8.count); choose a shorter XDG_RUNTIME_DIR or TMPDIR
            """
        case .system(let act, let number):
            "cannot \(act): \(SystemError.meaning(of: number))"
        case .loop(let error):
            "cannot watch a socket: \(error)"
        }
    }
}
