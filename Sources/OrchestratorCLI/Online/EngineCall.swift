internal import Orchestrator

/// One request of a verb, as data: what is sent is tested without an engine.
struct EngineCall: Hashable, Sendable {
    var method = "POST"
    /// The parts of the path after `/v1`.
    var path: [String]
    var body: JSONValue?

    /// The request of a verb that changes what runs.
    init(_ invocation: Invocation) {
        let names = JSONValue.array(invocation.arguments.map(JSONValue.string))
        path = [invocation.verb.rawValue]
        var members = JSONObject([.init(key: "names", value: names)])
        switch invocation.verb {
        case .down:
            if invocation.has(.now) { members["now"] = true }
        case .signal:
            let number = signalNumber(invocation.arguments.last ?? "") ?? 0
            members = ["name": .string(invocation.arguments.first ?? "")]
            members["signal"] = .integer(Int64(number))
            members["to"] = .string(invocation.text(.to) ?? "main")
        case .reload:
            members = JSONObject([])
            members["service"] = invocation.text(.service).map(JSONValue.string)
        case .up:
            let waits = !invocation.has(.detach) || invocation.has(.wait)
            members["wait"] = .bool(waits)
            if let limit = invocation.duration(.wait) { members["timeout"] = seconds(limit) }
        case .wait:
            members["for"] = .string(invocation.text(.condition) ?? "ready")
            members["timeout"] = seconds(invocation.duration(.timeout) ?? .seconds(3_600))
        case .plan: members = JSONObject([])
        case .start, .stop, .restart, .status, .logs, .check, .graph, .simulate, .config, .schema,
            .events, .why, .notify, .version, .completion, .help:
            break
        }
        body = .object(members)
    }
}

/// A duration in JSON: seconds, as a number.
func seconds(_ duration: Duration) -> JSONValue { .number(duration / .seconds(1)) }
