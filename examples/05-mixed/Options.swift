import Glibc

/// What the command line asks for.
struct Options {
    static let usage = """
        usage: mixed [--daemon PATH] [--kill] [--for SECONDS] [--explain]
          --daemon PATH  the daemon; unless given, `timed` beside this program
          --kill         kills the daemon once everything is up
          --for SECONDS  ends by itself; otherwise SIGTERM or Ctrl-C end it
          --explain      prints the graph and ends
        """

    var daemon = Self.beside("timed")
    var kills = false
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
            case "--daemon":
                guard let path = rest.popFirst() else {
                    throw UsageError(description: "--daemon needs a path")
                }
                daemon = path
            case "--kill": kills = true
            case "--for":
                guard let seconds = rest.popFirst().flatMap({ Double($0) }),
                    (0...86_400).contains(seconds)
                else { throw UsageError(description: "--for needs a number of seconds") }
                limit = .seconds(seconds)
            case "--explain": isExplained = true
            default: throw UsageError(description: "no such option: \(word)")
            }
        }
    }

    /// A program in the directory of this one.
    private static func beside(_ name: String) -> String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
        return path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/" + name
    }
}
