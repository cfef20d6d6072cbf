public import Stoic

/// A list of commands on which a thing and its model disagree; as short as it could be made.
public struct Counterexample<Command: Sendable>: Error, CustomStringConvertible {
    /// The seed that found it.
    public let seed: UInt64
    /// What was done, in order; leaving out any one of them hides the disagreement.
    public let commands: [Command]
    /// On what the two disagree.
    public let disagreement: String

    public var description: String {
        let list = commands.map { "  \($0)" }.joined(separator: "\n")
        return "\(disagreement)\nseed \(seed), \(commands.count) commands:\n\(list)"
    }
}

/// Runs random commands against a thing and a simple model of it, and shrinks what they disagree
/// on. For state and arithmetic that need no waiting: queues, buckets, windows, tables.
///
/// ```swift
/// let check = ModelCheck<Int>(
///     command: { Int.random(in: 0..<10, using: &$0) },
///     disagreement: { numbers in
///         numbers.sorted().first == numbers.min() ? nil : "the smallest"
///     })
/// try check.check(seeds: 0..<1_000)
/// ```
public struct ModelCheck<Command: Sendable> {
    private let length: Int
    private let command: (inout RandomSource) -> Command
    private let disagreement: ([Command]) -> String?

    /// - Parameters:
    ///   - length: How many commands a run has at most; default 60.
    ///   - command: Makes one command.
    ///   - disagreement: Runs all commands from the start; says on what the two disagree, or `nil`.
    public init(
        length: Int = 60, command: @escaping (inout RandomSource) -> Command,
        disagreement: @escaping ([Command]) -> String?
    ) {
        self.length = length
        self.command = command
        self.disagreement = disagreement
    }

    /// Runs one list of commands for each seed.
    /// - Throws: `Counterexample`, for the first seed that has one.
    public func check(seeds: Range<UInt64>) throws {
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
    private func shrunk(_ commands: [Command]) -> [Command] {
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
