import Stoic

extension ServiceReader {
    /// How its process is made.
    mutating func readLaunch() -> LaunchDefinition {
        var launch = LaunchDefinition(
            command: readCommand(),
            workingDirectory: keys["workingDirectory"]?.text.map(context.path) ?? context.directory)
        launch.environment = readEnvironment()
        launch.user = account("user")
        launch.group = account("group")
        launch.umask = keys["umask"]?.integer.map { UInt32($0) }
        launch.nice = keys["nice"]?.integer.map { Int32($0) }
        launch.limits = readLimits()
        launch.isolatesInCgroup = keys["isolate"]?.text.map { $0 == "cgroup" }
        return launch
    }

    private mutating func readCommand() -> [Template] {
        guard let command = keys["command"] else {
            if !keys.given.contains("command") {
                log.error(
                    keys, "command is missing", suggestion: "it is the program to run: [name, …]")
            }
            return []
        }
        guard let shell = keys["shell"], let prefix = shellPrefix(shell) else {
            return arguments(command)
        }
        guard case .commandText(let text) = command.value else {
            if !keys.fromDefaults.contains("shell") {
                log.error(shell, "a shell takes its command as text, and command is a list")
            }
            return arguments(command)
        }
        // The text is the shell's: `$` in it means what the shell says.
        return (prefix + [text]).map(Template.init(literal:))
    }

    /// The arguments before the text; `nil` when no shell is wanted.
    private func shellPrefix(_ shell: Checked) -> [String]? {
        if let flag = shell.flag { return flag ? ["/bin/sh", "-c"] : nil }
        let words = (shell.list ?? []).compactMap(\.text)
        guard words.isEmpty else { return words }
        log.error(shell, "the list is empty", suggestion: "write shell: true, or [bash, -c]")
        return nil
    }

    private func account(_ key: String) -> String? {
        guard let value = keys[key], let text = value.text else { return nil }
        let isNumber = text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        // The highest number means "no change" to the system.
        let isLegal =
            isNumber
            ? UInt32(text).map { $0 < .max } ?? false
            : !text.utf8.contains { $0 <= 0x20 || $0 == UInt8(ascii: ":") || $0 == 0x2F }
        guard isLegal else {
            log.error(
                value, "\(quoted(text)) cannot be a \(key)", suggestion: "write a name or a number")
            return nil
        }
        return text
    }

    private func readLimits() -> [String: LaunchDefinition.ResourceLimit] {
        var limits: [String: LaunchDefinition.ResourceLimit] = [:]
        for entry in keys["limits"]?.map ?? [] {
            if case .limit(let both) = entry.value.value {
                limits[entry.key] = .init(soft: both, hard: both)
                continue
            }
            guard let object = entry.value.object, case .limit(let soft) = object["soft"]?.value,
                case .limit(let hard) = object["hard"]?.value
            else { continue }
            if let hard, soft ?? .max > hard {
                log.error(object, "the soft limit is higher than the hard one")
            }
            limits[entry.key] = .init(soft: soft, hard: hard)
        }
        return limits
    }
}
