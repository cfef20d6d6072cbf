import Glibc
import Manifest
import Stoic

/// A file exists, of whatever kind; a link is followed. One left by an earlier run counts too.
final class FileProbe: ReadinessProbe {
    private let path: String

    init(path: String) { self.path = path }

    func attempt(_ completion: @escaping (String?) -> Void) {
        guard unsafe access(path, F_OK) != 0 else { return completion(nil) }
        completion("\(path): \(SystemError.meaning(of: errno))")
    }

    func cancel() {}
}

/// A command that exits with 0.
final class ExecProbe: ReadinessProbe {
    private let context: ReadinessContext
    private let command: [Template]
    private let timeout: Duration
    private var cancelRun: (() -> Void)?

    init(_ context: ReadinessContext, _ command: [Template], timeout: Duration) {
        self.context = context
        self.command = command
        self.timeout = timeout
    }

    func attempt(_ completion: @escaping (String?) -> Void) {
        var arguments: [String] = []
        for template in command {
            guard let text = context.resolve(template) else {
                return completion("the probe's command refers to a value that is not there")
            }
            arguments.append(text)
        }
        let name = arguments.first ?? ""
        cancelRun = context.runProbe(arguments, timeout) { [weak self] status, tail in
            self?.cancelRun = nil
            completion(Self.failure(of: name, status, tail))
        }
    }

    func cancel() {
        let cancel = cancelRun
        cancelRun = nil
        cancel?()
    }

    private static func failure(of name: String, _ status: ExitStatus?, _ tail: String) -> String? {
        let outcome: String
        switch status {
        case .code(0): return nil
        case .code(let code): outcome = "the probe \(name) exited with code \(code)"
        case .signal(let number, _): outcome = "the probe \(name) was ended by signal \(number)"
        case .unknown: outcome = "the probe \(name) ended unseen"
        case nil: outcome = "the probe \(name) came to no end"
        }
        var words = withoutControlCharacters(String(tail.suffix(200)))
        while words.last == " " { words.removeLast() }
        return words.isEmpty ? outcome : "\(outcome): \(words)"
    }
}
