import Stoic

/// A random project of puppets that misbehave in every way they know.
struct ChaosProject {
    /// One service: whom it needs, and how its process behaves.
    struct Part {
        let name: String
        let needs: [String]
        var flags: String
        let keys: [String]

        var service: Service {
            .puppet(name, flags: flags.split(separator: " ").map(String.init), keys)
        }
    }

    private(set) var parts: [Part]

    var names: [String] { parts.map(\.name) }
    var services: [Service] { parts.map(\.service) }
    /// Whom each service needs.
    var needs: [String: [String]] {
        Dictionary(uniqueKeysWithValues: parts.map { ($0.name, $0.needs) })
    }

    init(_ random: inout RandomSource) {
        parts = []
        for number in 0..<Int.random(in: 3...7, using: &random) {
            let earlier = parts.map(\.name)
            let needs = earlier.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
            parts.append(Self.part("s\(number)", needs, &random))
        }
    }

    /// Changes how one service is launched: a reload has to restart it.
    mutating func change(_ random: inout RandomSource) {
        let place = Int.random(in: 0..<parts.count, using: &random)
        parts[place].flags += " --beat \(Int.random(in: 5...500, using: &random))"
    }

    private static func part(
        _ name: String, _ needs: [String], _ random: inout RandomSource
    ) -> Part {
        func one(_ choices: [String]) -> String { choices.randomElement(using: &random) ?? "" }
        let isNotify = Bool.random(using: &random)
        let kid = one(["", "", "plain", "stubborn", "setsid", "holdout", "doublefork"])
        let flags = [
            isNotify ? "--ready \(one(["0", "0.05"]))" : "", kid.isEmpty ? "" : "--kid \(kid)",
            "--term \(one(["exit", "exit", "slow:0.1", "ignore", "fork", "segv", "exit1"]))",
            one(["", "", "--flood 50"]), one(["", "", "--control"]),
            one(["", "", "", "--storm 2000"]),
        ]
        // A service that was stopped by a signal before it was ready must fail in time.
        var keys = [
            "startTimeout: 5s",
            "output: {file: \(name).log, maxSize: 4096B, keep: 2}",
            "stopTimeout: \(one(["200ms", "500ms", "1s"]))",
            "restart: {policy: always, limit: {count: 100000, window: 1h}, "
                + "backoff: {initial: 20ms, max: 100ms}}",
        ]
        if !needs.isEmpty {
            let each = needs.map { "\($0): {onNeedLost: \(one(["ignore", "wait", "restart"]))}" }
            keys.append("needs: {\(each.joined(separator: ", "))}")
        }
        if isNotify { keys.append("ready: notify") }
        if flags.contains("--control") { keys.append("control: true") }
        return Part(
            name: name, needs: needs,
            flags: flags.filter { !$0.isEmpty }.joined(separator: " "), keys: keys)
    }
}
