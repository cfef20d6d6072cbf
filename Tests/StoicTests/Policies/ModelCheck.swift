import Stoic

/// A list of commands on which the thing and its model disagree; as short as it could be made.
struct Counterexample<Command: Sendable>: Error, CustomStringConvertible {
    let seed: UInt64
    let commands: [Command]
    let disagreement: String

    var description: String {
        let list = commands.map { "  \($0)" }.joined(separator: "\n")
        return "\(disagreement)\nseed \(seed), \(commands.count) commands:\n\(list)"
    }
}

/// Runs random commands against the thing and its model, and shrinks what they disagree on.
struct ModelCheck<Command: Sendable> {
    /// How many commands a run has at most.
    var length = 60
    /// Makes one command.
    let command: (inout RandomSource) -> Command
    /// Runs all commands from the start; says on what the two disagree, or `nil`.
    let disagreement: ([Command]) -> String?

    /// - Throws: `Counterexample`.
    func check(seeds: Range<UInt64>) throws {
        for seed in seeds {
            var random = RandomSource.seeded(seed)
            let count = Int.random(in: 1...length, using: &random)
            let commands = (0..<count).map { _ in command(&random) }
            guard disagreement(commands) != nil else { continue }
            let small = shrunk(commands)
            throw Counterexample(
                seed: seed, commands: small, disagreement: disagreement(small) ?? "not repeatable")
        }
    }

    /// Leaves out ever smaller stretches for as long as the rest still disagrees.
    func shrunk(_ commands: [Command]) -> [Command] {
        var commands = commands
        var stretch = commands.count / 2
        while stretch >= 1 {
            var start = 0
            while start < commands.count {
                var fewer = commands
                fewer.removeSubrange(start..<min(start + stretch, commands.count))
                if disagreement(fewer) != nil { commands = fewer } else { start += stretch }
            }
            stretch /= 2
        }
        return commands
    }
}
