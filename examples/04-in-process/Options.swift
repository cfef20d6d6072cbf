/// What the command line asks for.
struct Options {
    static let usage = """
        usage: in-process [--fail NAME] [--hang NAME] [--sign-out] [--for SECONDS] [--explain]
          --fail NAME    the start of this service fails: database, cache, account or sync
          --hang NAME    the stop of this service ignores its cancellation
          --sign-out     ada signs out after a moment, and grace signs in
          --for SECONDS  ends by itself; otherwise SIGTERM or Ctrl-C end it
          --explain      prints the graphs and ends
        """

    var faults = Faults()
    var users = ["ada"]
    var limit: Duration?
    var isExplained = false

    /// What cannot be understood.
    struct UsageError: Error, CustomStringConvertible {
        let description: String
    }

    init(_ arguments: some Sequence<String>) throws(UsageError) {
        var rest = Array(arguments)[...]
        while let word = rest.popFirst() {
            switch word {
            case "--fail": faults.failing = try Self.name(rest.popFirst(), of: word)
            case "--hang": faults.hanging = try Self.name(rest.popFirst(), of: word)
            case "--sign-out": users = ["ada", "grace"]
            case "--for": limit = try Self.seconds(rest.popFirst())
            case "--explain": isExplained = true
            default: throw UsageError(description: "no such option: \(word)")
            }
        }
    }

    private static func name(_ word: String?, of option: String) throws(UsageError) -> String {
        guard let word, ["database", "cache", "account", "sync"].contains(word) else {
            throw UsageError(description: "\(option) needs database, cache, account or sync")
        }
        return word
    }

    private static func seconds(_ word: String?) throws(UsageError) -> Duration {
        guard let word, let seconds = Double(word), (0...86_400).contains(seconds) else {
            throw UsageError(description: "--for needs a number of seconds, at most 86400")
        }
        return .seconds(seconds)
    }
}
