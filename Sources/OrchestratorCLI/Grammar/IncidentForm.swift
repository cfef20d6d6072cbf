internal import Manifest
internal import Simulation
internal import Stoic

/// The options of `simulate` that make something happen, and how each is written.
enum IncidentForm: Hashable, Sendable, CaseIterable {
    case kill, exit, hang, slowStart, slowStop, ignoreTerm, escape, unkillable, failLaunch
    case notReady, lie, flood
    case sleep, pause
    case start, stop, down, restart, force

    /// What one says about itself.
    private enum Shape {
        /// `NAME@TIME`.
        case nameAtTime
        /// `NAME`, or `NAME@TIME`.
        case name
        /// `NAME=DURATION`, or `NAME=DURATION@TIME`.
        case nameDuration
        /// `NAME=NUMBER@TIME`, the number within a range.
        case nameNumberAtTime(ClosedRange<Int>)
        /// `NAME=NUMBER`.
        case nameNumber(ClosedRange<Int>)
        /// `DURATION@TIME`.
        case durationAtTime
        /// `TIME`.
        case time
        /// `TIME`, or `NAME@TIME`.
        case timeOrName
    }

    private var shape: Shape {
        switch self {
        case .kill, .notReady, .start, .down, .restart: .nameAtTime
        case .hang, .ignoreTerm, .escape, .unkillable, .lie, .flood: .name
        case .slowStart, .slowStop: .nameDuration
        case .exit: .nameNumberAtTime(0...255)
        case .failLaunch: .nameNumber(1...1_000_000)
        case .sleep, .pause: .durationAtTime
        case .force: .time
        case .stop: .timeOrName
        }
    }

    /// Whether it can begin with the name of a service, for completion.
    var takesName: Bool {
        switch shape {
        case .durationAtTime, .time: false
        case .nameAtTime, .name, .nameDuration, .nameNumberAtTime, .nameNumber, .timeOrName: true
        }
    }

    /// The placeholder of its value.
    var placeholder: String {
        switch shape {
        case .nameAtTime: "name@time"
        case .name: "name[@time]"
        case .nameDuration: "name=duration[@time]"
        case .nameNumberAtTime: "name=code@time"
        case .nameNumber: "name=count"
        case .durationAtTime: "duration@time"
        case .time: "time"
        case .timeOrName: "time|name@time"
        }
    }

    /// What a right value looks like, to complete "expected …".
    var expectation: String {
        switch shape {
        case .nameAtTime: "a service and a time, such as db@5s"
        case .name: "a service, perhaps from a time on: db or db@5s"
        case .nameDuration: "a service and a duration, such as api=20s"
        case .nameNumberAtTime(let range):
            "a service, a code from \(range.lowerBound) to \(range.upperBound) and a time, such as "
                + "api=1@5s"
        case .nameNumber: "a service and a number, such as api=3"
        case .durationAtTime: "a duration and a time, such as 10m@1m"
        case .time: "a time, such as 30s"
        case .timeOrName: "a time, or a service and a time: 30s or db@30s"
        }
    }

    /// What `text` makes happen; `nil` when it is written wrong.
    func read(_ text: String) -> Incident? {
        let halves = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let head = String(halves[0])
        let time = halves.count == 2 ? duration(halves[1]) : nil
        guard halves.count == 1 || time != nil else { return nil }
        switch shape {
        case .time: return time == nil ? duration(halves[0]).map { whole(at: $0) } : nil
        case .timeOrName:
            guard let time else { return duration(halves[0]).map { whole(at: $0) } }
            return named(head, at: time)
        case .durationAtTime:
            guard let time, let length = duration(halves[0]) else { return nil }
            return Incident(self == .sleep ? .machineSleeps(length) : .pause(length), at: time)
        case .nameAtTime: return time.flatMap { named(head, at: $0) }
        case .name: return named(head, at: time ?? .zero)
        case .nameDuration, .nameNumber, .nameNumberAtTime: return valued(head, at: time)
        }
    }

    private func whole(at time: Duration) -> Incident {
        Incident(self == .force ? .force : .stop, at: time)
    }

    private func named(_ text: String, at time: Duration) -> Incident? {
        guard isServiceName(text) else { return nil }
        let name = ServiceName(text)
        let what: Incident.What? =
            switch self {
            case .kill: .kill(name)
            case .hang: .hang(name)
            case .ignoreTerm: .ignoreTerm(name)
            case .escape: .escape(name)
            case .unkillable: .unkillable(name)
            case .notReady: .unready(name)
            case .lie: .lie(name)
            case .flood: .flood(name)
            case .start: .ask(.start, name)
            case .stop: .ask(.stop, name)
            case .down: .ask(.down, name)
            case .restart: .ask(.restart, name)
            case .exit, .slowStart, .slowStop, .failLaunch, .sleep, .pause, .force: nil
            }
        return what.map { Incident($0, at: time) }
    }

    private func valued(_ text: String, at time: Duration?) -> Incident? {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, isServiceName(String(parts[0])) else { return nil }
        let name = ServiceName(String(parts[0]))
        switch (self, shape) {
        case (.slowStart, _):
            return duration(parts[1]).map { Incident(.slowStart(name, $0), at: time ?? .zero) }
        case (.slowStop, _):
            return duration(parts[1]).map { Incident(.slowStop(name, $0), at: time ?? .zero) }
        case (.exit, .nameNumberAtTime(let range)):
            guard let time, let code = number(parts[1], range) else { return nil }
            return Incident(.exit(name, Int32(code)), at: time)
        case (.failLaunch, .nameNumber(let range)):
            guard time == nil, let count = number(parts[1], range) else { return nil }
            return Incident(.failLaunch(name, count))
        case (_, _): return nil
        }
    }

    private func duration(_ text: Substring) -> Duration? {
        do { return try parseDuration(String(text)) } catch { return nil }
    }

    private func number(_ text: Substring, _ range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int(text), range.contains(number)
        else { return nil }
        return number
    }

    /// What was probably meant: a time without its unit gets seconds, a missing time is some.
    func nearest(to text: String) -> String? {
        if text.hasPrefix("@") { return nil }
        return
            [
                text + "s", text.replacing("@", with: "s@"), text.replacing("@", with: "s@") + "s",
                text + "@5s", text + "=5s", text + "=1@5s", text + "=1",
            ]
            .first { read($0) != nil }
    }
}
