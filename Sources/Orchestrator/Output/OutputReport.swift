public import Stoic

/// What is worth knowing about the capture of output. Nothing in it stops a service.
public struct OutputReport: Sendable, CustomStringConvertible {
    /// Whose output.
    public let service: ServiceName
    /// Its log file, as named.
    public let path: String
    /// What happened.
    public let what: What

    /// What can happen.
    public enum What: Hashable, Sendable {
        /// Bytes were lost since the last report, and in all; reported at most every 10 s.
        case dropped(bytes: UInt64, total: UInt64, SystemError)
        /// The log can be written again; this many bytes of that trouble were lost.
        case resumed(lost: UInt64)
        /// The log had been removed, renamed or replaced, and was opened anew.
        case reopened
        /// The log could not be rotated (`failures` in all), and is written on.
        case rotationFailed(SystemError, failures: UInt64)
        /// The log could not be rotated until it reached twice its limit, and was emptied.
        case emptied(bytes: UInt64)
        /// The index cannot be written: times and streams of these bytes will be unknown.
        case indexFailed(SystemError)
        /// The pipe could not be read; nothing more is captured of that stream.
        case unreadable(SystemError)
        /// The pipe still held bytes when the capture was closed, within its bound.
        case leftInPipe(bytes: UInt64)
    }

    public var description: String {
        let subject = "output of \"\(service)\""
        switch what {
        case .dropped(let bytes, let total, let error):
            return "\(subject): \(bytes) bytes lost (\(total) in all): \(error)"
        case .resumed(let lost):
            return "\(subject): \(path) can be written again; \(lost) bytes were lost"
        case .reopened:
            return "\(subject): \(path) was removed or replaced; opened it anew"
        case .rotationFailed(let error, let failures):
            return "\(subject): cannot rotate \(path) (\(failures) times so far): \(error)"
        case .emptied(let bytes):
            return "\(subject): emptied \(path), which could not be rotated: \(bytes) bytes lost"
        case .indexFailed(let error):
            return "\(subject): times and streams will be missing in \(path): \(error)"
        case .unreadable(let error):
            return "\(subject): no longer captured: \(error)"
        case .leftInPipe(let bytes):
            return "\(subject): \(bytes) bytes were left in the pipe when it was closed"
        }
    }
}
