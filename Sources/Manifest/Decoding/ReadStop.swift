import Stoic

extension ServiceReader {
    /// The rungs of its stop, and the commands they name by index.
    mutating func readStop() -> (ladder: [Rung], commands: [[Template]]) {
        guard let given = keys["stop"] else { return (Rung.standard, []) }
        var ladder: [Rung] = []
        var commands: [[Template]] = []
        for item in given.list ?? [given] {
            if let rung = rung(item, &commands) { ladder.append(rung) }
        }
        if let list = given.list, list.isEmpty {
            log.error(
                given, "a stop without a rung is SIGKILL at once",
                suggestion: "say stopTimeout: 0s if that is meant")
        }
        warnIfCut(ladder, given)
        return (ladder, commands)
    }

    private mutating func rung(_ item: Checked, _ commands: inout [[Template]]) -> Rung? {
        guard let object = item.object else {
            warnIfDeaf(item)
            return Rung(.message)
        }
        let actions = object.given.filter { ["message", "signal", "command"].contains($0) }
        guard let kind = actions.first, actions.count == 1 else {
            let found = actions.isEmpty ? "none" : actions.joined(separator: " and ")
            log.error(object, "expected one of message, signal and command, found \(found)")
            return nil
        }
        if kind != "signal", let target = object["to"] {
            log.error(target, "to is for a signal only")
        }
        guard let value = object[kind] else { return nil }
        let wait = object["wait"]?.duration
        switch kind {
        case "message":
            if value.flag == false { log.error(value, "message can only be true") }
            warnIfDeaf(value)
            return Rung(.message, wait: wait)
        case "signal":
            let number = value.signal ?? 15
            let usual: SignalTarget = number == 9 ? .tree : .group
            let target = object["to"]?.text.map { SignalTarget(word: $0) }
            return Rung(.signal(number, target ?? usual), wait: wait)
        default:
            commands.append(arguments(value))
            return Rung(.command(commands.count - 1), wait: wait)
        }
    }

    private func warnIfDeaf(_ spot: some Located) {
        guard !flag("control"), !keys.fromDefaults.contains("stop") else { return }
        log.warning(
            spot, "the message reaches \(keys.name) only over its control channel",
            suggestion: "add control: true")
    }

    private func warnIfCut(_ ladder: [Rung], _ spot: some Located) {
        let total = ladder.compactMap(\.wait).reduce(Duration.zero) { $0.saturatingSum($1) }
        let limit = keys["stopTimeout"]?.duration ?? .seconds(10)
        guard total > limit, !keys.fromDefaults.contains("stop") else { return }
        log.warning(
            spot,
            "the waits add up to \(durationText(total)), and SIGKILL comes after "
                + "stopTimeout, \(durationText(limit))")
    }
}

extension SignalTarget {
    init(word: String) {
        switch word {
        case "main": self = .main
        case "tree": self = .tree
        default: self = .group
        }
    }
}
