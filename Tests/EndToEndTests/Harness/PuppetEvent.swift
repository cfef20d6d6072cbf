import Glibc

/// One line of a puppet: `MILLISECONDS NAME PID EVENT EXTRA`.
struct PuppetEvent: CustomStringConvertible {
    /// Monotonic.
    let milliseconds: Int
    let name: String
    let pid: pid_t
    let event: String
    let extra: String

    init?(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
        guard words.count == 5, let time = Int(words[0]), let pid = pid_t(words[2])
        else { return nil }
        milliseconds = time
        name = String(words[1])
        self.pid = pid
        event = String(words[3])
        extra = String(words[4].drop { $0 == " " }.prefix { $0 != "\n" })
    }

    var description: String { "\(milliseconds) \(name) \(pid) \(event) \(extra)" }

    /// `key=value` of `extra`.
    func value(_ key: String) -> String? {
        for word in extra.split(separator: " ") where word.hasPrefix(key + "=") {
            return String(word.dropFirst(key.count + 1))
        }
        return nil
    }

    /// When the process of a `start` event began, in ticks: with the pid, its identity.
    var begun: UInt64? { value("begun").flatMap { UInt64($0) } }

    /// Whether the process of a `start` event is still there. A zombie counts, unless its parent
    /// is the system's first process, which reaps when it likes.
    var isAlive: Bool {
        guard let row = ProcessTable.row(pid), row.begun == begun else { return false }
        return !(row.state == "Z" && row.parent == 1)
    }
}
