/// The number of a resource limit by its name in a config (`nofile`, `core`, …), as in limits.conf
/// and `ulimit`, without `RLIMIT_`. `nil`: no such limit. `locks` is not one: the kernel ignores
/// it, and the engine keeps the token of an incarnation there.
public func resourceNumber(named name: String) -> Int32? {
    // The numbers are the kernel's, the same on every architecture we build for.
    switch name {
    case "cpu": 0
    case "fsize": 1
    case "data": 2
    case "stack": 3
    case "core": 4
    case "rss": 5
    case "nproc": 6
    case "nofile": 7
    case "memlock": 8
    case "as": 9
    case "sigpending": 11
    case "msgqueue": 12
    case "nice": 13
    case "rtprio": 14
    case "rttime": 15
    default: nil
    }
}

/// The name of a resource limit in a config, by its number.
func resourceName(_ number: Int32) -> String {
    let names = [
        "cpu", "fsize", "data", "stack", "core", "rss", "nproc", "nofile", "memlock", "as",
        "sigpending", "msgqueue", "nice", "rtprio", "rttime",
    ]
    return names.first { resourceNumber(named: $0) == number } ?? "limit \(number)"
}
