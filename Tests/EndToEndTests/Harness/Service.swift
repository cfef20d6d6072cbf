/// A service of a case's config. Values of keys are YAML as it stands.
struct Service {
    let name: String
    /// The `command` as YAML.
    let command: String
    /// Lines such as `stopTimeout: 2s`.
    let keys: [String]

    /// A puppet of this name with these flags, separated by spaces.
    static func puppet(_ name: String, _ flags: String = "", _ keys: String...) -> Service {
        let words = flags.split(separator: " ").map(String.init)
        return Service(name: name, words: ["PUPPET", name] + words, keys: keys)
    }

    /// A puppet whose flags hold spaces.
    static func puppet(_ name: String, flags: [String], _ keys: String...) -> Service {
        Service(name: name, words: ["PUPPET", name] + flags, keys: keys)
    }

    /// A puppet whose keys are a list already.
    static func puppet(_ name: String, flags: [String], _ keys: [String]) -> Service {
        Service(name: name, words: ["PUPPET", name] + flags, keys: keys)
    }

    /// A script of `sh`. `PUPPET` in it is the program.
    static func script(_ name: String, _ text: String, _ keys: String...) -> Service {
        Service(name: name, words: ["sh", "-c", text], keys: keys)
    }

    /// Any command.
    static func command(_ name: String, _ words: [String], _ keys: String...) -> Service {
        Service(name: name, words: words, keys: keys)
    }

    private init(name: String, words: [String], keys: [String]) {
        self.name = name
        self.keys = keys
        command = "[" + words.map(Self.quoted).joined(separator: ", ") + "]"
    }

    /// A YAML scalar in double quotes.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    func yaml(puppet: String) -> String {
        let command = command.split(separator: "PUPPET", omittingEmptySubsequences: false)
            .joined(separator: puppet)
        let lines = ["  \(name):", "    command: \(command)"] + keys.map { "    \($0)" }
        return lines.joined(separator: "\n")
    }
}
