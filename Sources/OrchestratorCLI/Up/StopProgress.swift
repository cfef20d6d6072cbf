internal import Stoic

/// What the foreground shows while it stops: whom it waits for, what was done, and what comes next
/// and when. Pure: the caller knows the times.
public struct StopProgress: Hashable, Sendable {
    /// The services whose trees are not empty yet, in the order they were asked to stop.
    public var waiting: [Waiting]
    /// What is left of `exitBudget`.
    public var budgetLeft: Duration?
    /// Whether everything is being killed already, so that another Ctrl-C changes nothing.
    public var isForced: Bool

    /// One service that is being stopped.
    public struct Waiting: Hashable, Sendable {
        /// The service.
        public var service: String
        /// Its main process; `nil` when only the rest of its tree is left.
        public var pid: Int32?
        /// The last thing that was done, in words that complete "… sent": `SIGTERM`,
        /// `stop message`; and how long ago.
        public var last: Step?
        /// The next rung, and in how long.
        public var next: Step?

        /// A service that is being stopped.
        public init(_ service: String, pid: Int32?, last: Step? = nil, next: Step? = nil) {
            self.service = service
            self.pid = pid
            self.last = last
            self.next = next
        }
    }

    /// A rung and its distance in time.
    public struct Step: Hashable, Sendable {
        /// `SIGTERM`, `SIGKILL`, `stop message`, `stop command`.
        public var what: String
        /// How long ago, or in how long.
        public var distance: Duration

        /// A rung and its distance in time.
        public init(_ what: String, _ distance: Duration) {
            self.what = what
            self.distance = distance
        }
    }

    /// A stop that waits for these.
    public init(_ waiting: [Waiting], budgetLeft: Duration? = nil, isForced: Bool = false) {
        self.waiting = waiting
        self.budgetLeft = budgetLeft
        self.isForced = isForced
    }

    /// `waiting for api (pid 412, SIGTERM sent 2.1 s ago, SIGKILL in 7.9 s); press Ctrl-C again to
    /// kill`, without its newline; `nil` when there is nothing to wait for.
    /// - Parameter width: The columns there are; what does not fit is cut with an ellipsis, whole
    ///   services first. `nil`: no limit.
    public func line(width: Int? = nil) -> String? {
        guard !waiting.isEmpty else { return nil }
        let hint = isForced ? "" : "; press Ctrl-C again to kill"
        // As many as fit, the first ones: they decide how long the stop takes.
        for shown in (1...min(waiting.count, Self.mostShown)).reversed() {
            let text = "waiting for " + list(shown) + hint
            guard let width, displayWidth(text) > width else { return text }
        }
        let text = "waiting for " + list(1)
        guard let width else { return text }
        return Self.cut(text, to: width)
    }

    private static let mostShown = 4

    private func list(_ shown: Int) -> String {
        let names = waiting.prefix(shown).map(Self.describe)
        let rest = waiting.count - shown
        return names.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }

    private static func describe(_ waiting: Waiting) -> String {
        var facts: [String] = [waiting.pid.map { "pid \($0)" } ?? "its main process is gone"]
        if let last = waiting.last {
            facts.append("\(last.what) sent \(humanDuration(last.distance)) ago")
        }
        if let next = waiting.next {
            facts.append("\(next.what) in \(humanDuration(max(.zero, next.distance)))")
        }
        return safeForTerminal("\(waiting.service) (\(facts.joined(separator: ", ")))")
    }

    private static func cut(_ text: String, to width: Int) -> String {
        guard displayWidth(text) > width, width > 1 else { return text }
        var kept = ""
        var used = 0
        for character in text {
            let columns = displayWidth(String(character))
            if used + columns > width - 1 { break }
            kept.append(character)
            used += columns
        }
        return kept + "…"
    }
}
