import Stoic

extension ServiceReader {
    /// How a service is probed for whether it lives, and how many failures are too many.
    mutating func readLive() -> (LiveDefinition, threshold: Int)? {
        guard let given = keys.fitting("live"), let object = given.object else { return nil }
        let kinds = object.given.filter { ["tcp", "unix", "exec"].contains($0) }
        guard let kind = kinds.first, kinds.count == 1 else {
            let found = kinds.isEmpty ? "none" : kinds.joined(separator: ", ")
            log.error(object, "expected exactly one of tcp, unix and exec, found \(found)")
            return nil
        }
        guard let value = object[kind], let probe = probe(kind, value) else { return nil }
        if keys.fitting("ready") == nil {
            log.warning(
                given,
                "it counts as ready as soon as its program runs, and is probed from then on",
                suggestion: "say with ready how it shows that it can be used")
        }
        var live = LiveDefinition(probe: probe)
        live.interval = object["interval"]?.duration ?? live.interval
        live.timeout = object["timeout"]?.duration ?? live.timeout
        return (live, threshold: object["threshold"]?.integer.map { Int($0) } ?? 3)
    }

    private mutating func probe(_ key: String, _ value: Checked) -> LiveDefinition.Probe? {
        switch kind(key, value) {
        case .tcp(let host, let port): .tcp(host: host, port: port)
        case .unix(let path): .unix(path)
        case .exec(let command, _): .exec(command)
        // What could not be read was reported, and stands for something else.
        case .started, .notify, .descriptor, .log, .file, .delay, .completion, .all, .any: nil
        }
    }
}
