import Stoic

/// A client that waits for something: it hears what happens meanwhile, and one last line.
///
/// There are at most as many as the control server takes connections.
final class EngineWaiter {
    private let exchange: ControlExchange
    /// Services it is about; `nil`: all.
    private let services: Set<String>?
    private let done: (Engine) -> JSONValue?
    private var limit: TimerTable.Token?
    private(set) var isOpen = true
    /// Runs when the client leaves before the end.
    var onGone: (() -> Void)?
    /// The last line when the project ends first; without one, that it did is a failure.
    var projectEnd: ((ProjectResult) -> JSONValue)?

    /// - Parameter done: The last line, once there is one. Asked after each turn.
    init(
        _ exchange: ControlExchange, services: Set<String>?,
        done: @escaping (Engine) -> JSONValue?
    ) {
        self.exchange = exchange
        self.services = services
        self.done = done
        exchange.beginStream()
        exchange.onClientGone = { [weak self] in self?.onGone?() }
    }

    /// Ends the wait after `wait`, with the code for a limit that passed.
    func limit(_ wait: Duration, _ timers: TimerTable) {
        limit = timers.after(wait) { [weak self] in
            self?.finish(.result(75, "time", "not within \(wait.words)"), timers)
        }
    }

    /// Nobody waits any more.
    func abandon(_ timers: TimerTable) {
        isOpen = false
        timers.cancel(limit)
    }

    func hear(_ record: EventRecord) {
        guard isOpen, record.level >= .info else { return }
        if let services, let service = record.service, !services.contains(service) { return }
        exchange.send(.object(["event": record.json]))
    }

    /// Whether it is over, after a look at what it waits for.
    func isDone(_ engine: Engine) -> Bool {
        guard isOpen else { return true }
        guard let line = done(engine) else { return false }
        finish(line, engine.probeTimers)
        return true
    }

    /// Everything has ended, and with it what was waited for.
    func endWithProject(_ result: ProjectResult, _ timers: TimerTable) {
        let line =
            projectEnd?(result)
            ?? .result(
                1, "ended", "everything has ended: \(result.cause)", failures: result.failures)
        finish(line, timers)
    }

    func finish(_ line: JSONValue, _ timers: TimerTable) {
        guard isOpen else { return }
        isOpen = false
        timers.cancel(limit)
        exchange.end(line)
    }
}

extension JSONValue {
    /// The last line of a verb that waits.
    static func result(
        _ exitCode: Int32, _ state: String, _ message: String, survivors: [JSONValue] = [],
        failures: [String] = []
    ) -> JSONValue {
        var members: [JSONObject.Member] = [
            .init(key: "exitCode", value: .integer(Int64(exitCode))),
            .init(key: "state", value: .string(state)),
            .init(key: "message", value: .string(message)),
        ]
        if !survivors.isEmpty { members.append(.init(key: "survivors", value: .array(survivors))) }
        if !failures.isEmpty {
            members.append(.init(key: "failures", value: .array(failures.map { .string($0) })))
        }
        return .object(["result": .object(JSONObject(members))])
    }
}

extension EventRecord {
    /// The record as the control API shows it: as one line of `events.jsonl`.
    var json: JSONValue {
        var members: [JSONObject.Member] = []
        func add(_ key: String, _ value: JSONValue) {
            members.append(.init(key: key, value: value))
        }
        add("id", .integer(Int64(clamping: id)))
        if let cause { add("cause", .integer(Int64(clamping: cause))) }
        add("ts", .string(WallTime(nanoseconds: wallNanoseconds).utc))
        add("wallNs", .integer(wallNanoseconds))
        add("monotonicNs", .integer(monotonicNanoseconds))
        add("name", .string(name))
        if let service { add("service", .string(service)) }
        if let incarnation { add("incarnation", .integer(Int64(clamping: incarnation))) }
        add("level", .string(level.rawValue))
        add("message", .string(message))
        if !fields.isEmpty {
            add("fields", .object(JSONObject(fields.map { .init(key: $0.0, value: $0.1.json) })))
        }
        return .object(JSONObject(members))
    }
}

extension FieldValue {
    fileprivate var json: JSONValue {
        switch self {
        case .text(let text): .string(text)
        case .integer(let number): .integer(number)
        case .number(let number): .number(number)
        case .flag(let flag): .bool(flag)
        case .list(let values): .array(values.map(\.json))
        case .none: .null
        }
    }
}
