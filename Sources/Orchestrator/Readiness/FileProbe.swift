import Glibc
import Manifest
import Stoic

/// A file exists, of whatever kind; a link is followed. One left by an earlier run counts too.
final class FileProbe: ServiceProbe {
    private let path: String

    init(path: String) { self.path = path }

    func attempt(_ completion: @escaping (ProbeOutcome) -> Void) {
        // SAFETY: the path is a text of ours, which lives through the call.
        guard unsafe access(path, F_OK) != 0 else { return completion(.passed) }
        completion(.of(errno: errno, "\(path): \(SystemError.meaning(of: errno))"))
    }

    func cancel() {}
}

/// A command that exits with 0.
final class ExecProbe: ServiceProbe {
    private let context: ReadinessContext
    private let command: [Template]
    private let timeout: Duration
    private var cancelRun: (() -> Void)?

    init(_ context: ReadinessContext, _ command: [Template], timeout: Duration) {
        self.context = context
        self.command = command
        self.timeout = timeout
    }

    func attempt(_ completion: @escaping (ProbeOutcome) -> Void) {
        var arguments: [String] = []
        for template in command {
            guard let text = context.resolve(template) else {
                return completion(
                    .notRun("the probe's command refers to a value that is not there"))
            }
            arguments.append(text)
        }
        let name = arguments.first ?? ""
        cancelRun = context.runProbe(arguments, timeout) { [weak self] outcome in
            self?.cancelRun = nil
            completion(Self.outcome(of: name, outcome))
        }
    }

    func cancel() {
        let cancel = cancelRun
        cancelRun = nil
        cancel?()
    }

    private static func outcome(of name: String, _ run: CommandOutcome) -> ProbeOutcome {
        switch run {
        case .ended(.code(0), _): .passed
        case .ended(.code(let code), let tail):
            .failed("the probe \(name) exited with code \(code)" + ending(tail))
        case .ended(.signal(let number, _), let tail):
            .failed("the probe \(name) was ended by signal \(number)" + ending(tail))
        case .ended(.unknown, let tail): .failed("the probe \(name) ended unseen" + ending(tail))
        case .tookTooLong(let words):
            .failed("the probe \(name) came to no end: " + withoutControlCharacters(words))
        case .notRun(let words):
            .notRun("the probe \(name) did not run: " + withoutControlCharacters(words))
        }
    }

    /// The last of what it wrote, as one line that ends a sentence.
    private static func ending(_ tail: String) -> String {
        var words = withoutControlCharacters(String(tail.suffix(200)))
        while words.last == " " { words.removeLast() }
        return words.isEmpty ? "" : ": \(words)"
    }
}
