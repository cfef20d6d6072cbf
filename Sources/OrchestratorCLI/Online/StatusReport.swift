internal import Manifest
internal import Orchestrator
internal import Stoic

/// What the engine says about the project and its services. Fields it leaves out are `nil`: an
/// engine may be older or newer than this program.
struct StatusReport: Hashable, Sendable {
    var project: Project
    var services: [Service]

    /// The project as a whole.
    struct Project: Hashable, Sendable {
        var name: String?
        var file: String?
        var pid: Int64?
        var state: String?
        /// How long it has been in that state.
        var since: Duration?
    }

    /// One service.
    struct Service: Hashable, Sendable {
        var name: String
        var type: String?
        var state: String
        var health: String?
        var reason: String?
        var blockers: [String]
        var pid: Int64?
        var restarts: Int64?
        var readyFor: Duration?
        var nextStart: Duration?
        var attempt: Int64?
        /// Until SIGKILL, while it is being stopped.
        var killIn: Duration?
        var description: String?
        var status: String?
        var lastExit: String?
    }

    /// From the engine's JSON; `nil` when it is something else.
    init?(_ json: JSONValue?) {
        guard let json, let list = json["services"]?.array else { return nil }
        let about = json["project"]
        project = Project(
            name: about?["name"]?.string ?? about?["id"]?.string, file: about?["file"]?.string,
            pid: about?["pid"]?.integer, state: about?["state"]?.string,
            since: duration(about?["since"]))
        services = list.map(Service.init)
    }
}

extension StatusReport.Service {
    /// From the engine's JSON.
    init(_ json: JSONValue) {
        name = json["name"]?.string ?? "?"
        type = json["type"]?.string
        state = json["state"]?.string ?? "unknown"
        health = json["health"]?.string
        reason = json["reason"]?.string
        blockers = (json["blockers"]?.array ?? []).compactMap {
            $0.string ?? $0["reason"]?.string ?? $0["message"]?.string
        }
        pid = json["pid"]?.integer
        restarts = json["restarts"]?.integer
        readyFor = duration(json["readyFor"])
        nextStart = duration(json["nextStart"]?["in"] ?? json["nextStart"])
        attempt = json["nextStart"]?["attempt"]?.integer ?? json["attempt"]?.integer
        killIn = duration(json["stopping"]?["killIn"])
        description = json["description"]?.string
        status = json["status"]?.string
        lastExit = json["lastExit"]?.string ?? json["lastExit"]?["message"]?.string
    }
}

/// Seconds as a number, or a text such as `1m30s`.
private func duration(_ json: JSONValue?) -> Duration? {
    switch json {
    case .integer(let seconds): max(.seconds(seconds).clamped, .zero)
    case .number(let seconds):
        seconds.isFinite ? .seconds(min(max(seconds, 0), Duration.century / .seconds(1))) : nil
    case .string(let text): durationOf(text)
    case .null, .bool, .array, .object, nil: nil
    }
}

private func durationOf(_ text: String) -> Duration? {
    do { return try parseDuration(text) } catch { return nil }
}
