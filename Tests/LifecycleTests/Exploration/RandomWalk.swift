import Simulation

@testable import Stoic

/// One way through a graph, at random: for bounds that are too wide to walk every way.
struct RandomWalk {
    /// How many events it took.
    private(set) var transitions = 0
    /// The first violation, and the events that led to it.
    private(set) var failure: String?
    /// More would be a circle: allowances run out, and what is free leads to an end.
    static let mostEvents = 2_000

    /// Walks from `start` until nothing is left to happen.
    init(from start: CheckedMachine, _ allowance: Allowance, _ random: inout RandomSource) {
        var host = start
        var left = allowance
        var path: [LifecycleEvent] = []
        host.command(.up)
        while host.violations.isEmpty, !host.isOver, transitions < Self.mostEvents {
            let choices = host.choices(left)
            guard let choice = Self.pick(choices, &random) else { break }
            path.append(choice.event)
            left = left.after(choice.cost)
            host.send(choice.event)
            transitions += 1
        }
        guard let violation = host.violations.first ?? Self.verdict(host, transitions) else {
            return
        }
        failure = (["\(violation) after", "  up"] + path.map { "  \($0)" }).joined(separator: "\n")
    }

    /// A third of the steps cost something, where anything does: else the many free ones would
    /// leave most of the allowance unused.
    private static func pick(_ choices: [Choice], _ random: inout RandomSource) -> Choice? {
        let costly = choices.filter { !$0.isFree }
        // The end of the project is free and always there; most walks want to see more first.
        let others = choices.filter { $0.isFree && !$0.isEndOfProject }
        let isQuiet = others.isEmpty
        if !costly.isEmpty, isQuiet || Int.random(in: 0..<3, using: &random) == 0 {
            return costly.randomElement(using: &random)
        }
        let isEnd = isQuiet || Int.random(in: 0..<30, using: &random) == 0
        return (isEnd ? choices : others).randomElement(using: &random)
    }

    private static func verdict(_ host: CheckedMachine, _ transitions: Int) -> String? {
        if transitions >= mostEvents { return "it goes on for ever" }
        return host.machine.isEnding && !host.isOver ? "the project's stop is stuck" : nil
    }
}

extension Choice {
    fileprivate var isFree: Bool {
        switch cost {
        case .free: true
        case .fault, .command: false
        }
    }

    fileprivate var isEndOfProject: Bool {
        guard case .command(let command) = event, case .stopProject = command.verb else {
            return false
        }
        return true
    }
}
