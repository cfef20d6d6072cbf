import Glibc
import Stoic

/// What came of one probe.
enum ProbeOutcome: Hashable {
    /// The service is what the probe looks for.
    case passed
    /// It is not, for this reason.
    case failed(String)
    /// Nothing was learnt about the service: we could not probe, for this reason.
    case notRun(String)

    /// Why it did not pass.
    var words: String? {
        switch self {
        case .passed: nil
        case .failed(let words), .notRun(let words): words
        }
    }

    /// What a failed system call says: some failures are our own lack of something.
    static func of(errno number: CInt, _ words: String) -> ProbeOutcome {
        switch number {
        case EMFILE, ENFILE, ENOMEM, ENOBUFS: .notRun(words)
        default: .failed(words)
        }
    }
}

/// How the run of a command on behalf of a service ended.
enum CommandOutcome: Hashable {
    /// Its main process ended and nothing of it is left; the last of what it wrote.
    case ended(ExitStatus, tail: String)
    /// It was killed when its time was up.
    case tookTooLong(String)
    /// It never ran.
    case notRun(String)
}

/// One way to look whether a service is ready, or alive. A probe has at most one try under way.
protocol ServiceProbe: AnyObject {
    /// Tries once. `completion` is called once, possibly before this returns, and never after
    /// `cancel`. The probe bounds its own try, except the lookup of a name.
    func attempt(_ completion: @escaping (ProbeOutcome) -> Void)
    /// Ends a try under way and releases what it holds.
    func cancel()
}
