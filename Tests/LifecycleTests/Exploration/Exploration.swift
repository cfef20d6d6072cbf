import Simulation

@testable import Stoic

/// A depth-first walk over control states.
struct Exploration {
    /// How much was seen.
    struct Count: CustomStringConvertible {
        var graphs = 0
        var states = 0
        var transitions = 0

        var description: String {
            "\(graphs) walks, \(states) states, \(transitions) transitions"
        }

        static func += (left: inout Count, right: Count) {
            left.graphs += right.graphs
            left.states += right.states
            left.transitions += right.transitions
        }
    }
    private(set) var count = Count(graphs: 1)
    /// The first violation, and the events that led to it.
    private(set) var failure: String?
    /// Whether events about what is gone are tried in every state.
    var triesStaleEvents = false
    /// Where it begins.
    var start: CheckedMachine
    /// Each state, and the allowances with which nothing new is found in it: where more was allowed
    /// already, less leads nowhere else.
    private var seen: [ControlState: Frontier] = [:]
    /// How each state was first reached: from which other, by which of its choices.
    private var origins: [(from: Int, choice: Int)] = []
    private var firstAllowance = Allowance(faults: 0, commands: 0)

    /// Pairs of faults and commands, as bits: every pair up to one that was allowed.
    private struct Frontier {
        private var covered: UInt64 = 0

        /// Adds all pairs up to that of `left`; `false` if it was there.
        mutating func insert(_ left: Allowance) -> Bool {
            let bit = 8 * min(left.faults, 7) + min(left.commands, 7)
            guard covered & (1 << bit) == 0 else { return false }
            for faults in 0...min(left.faults, 7) {
                covered |= ((2 << min(left.commands, 7)) - 1) << (8 * faults)
            }
            return true
        }
    }

    private struct Place {
        let host: CheckedMachine
        let allowance: Allowance
        let number: Int
    }

    /// A walk through one graph.
    /// - Parameters:
    ///   - edges: From each service to those it needs, by number.
    ///   - vary: Changes the specs before they are used.
    init(
        edges: [(Int, Int)], services: Int, parallel: Bool,
        vary: (inout [ServiceSpec]) -> Void = { _ in }
    ) {
        let specs = Self.specs(edges: edges, services: services, vary: vary)
        let settings = LifecycleMachine.Settings(
            exitBudget: .seconds(30), stopsInParallel: parallel, random: .seeded(1))
        do {
            start = CheckedMachine(try LifecycleMachine(specs, settings: settings))
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// Services that report readiness, restart once, and wait a second for it.
    static func specs(
        edges: [(Int, Int)], services: Int, vary: (inout [ServiceSpec]) -> Void = { _ in }
    ) -> [ServiceSpec] {
        var specs = (0..<services).map { number in
            var spec = ServiceSpec(
                ServiceName("s\(number)"),
                needs: edges.filter { $0.0 == number }.map { Need(ServiceName("s\($0.1)")) },
                readiness: .reported)
            spec.restart.limitCount = 1
            spec.restart.backoff = .spaced(.seconds(1))
            return spec
        }
        vary(&specs)
        return specs
    }

    mutating func run(_ allowance: Allowance) {
        firstAllowance = allowance
        var first = start
        first.command(.up)
        origins = [(-1, -1)]
        _ = isNew(first, allowance)
        if let violation = first.violations.first { failure = "\(violation) after up" }
        var stack = [Place(host: first, allowance: allowance, number: 0)]
        while let place = stack.popLast(), failure == nil { visit(place, &stack) }
        count.states = seen.count
    }

    private mutating func visit(_ place: Place, _ stack: inout [Place]) {
        let choices = place.host.choices(place.allowance)
        checkProgress(place, choices)
        if triesStaleEvents { tryStaleEvents(place) }
        for (number, choice) in choices.enumerated() {
            var next = place.host
            next.send(choice.event)
            count.transitions += 1
            if let violation = next.violations.first {
                failure = explain(violation, place.number, number)
                return
            }
            let left = place.allowance.after(choice.cost)
            guard isNew(next, left) else { continue }
            origins.append((place.number, number))
            next.output = LifecycleOutput()
            stack.append(Place(host: next, allowance: left, number: origins.count - 1))
        }
    }

    /// Whether something new may follow from a state with so much still allowed.
    private mutating func isNew(_ host: CheckedMachine, _ left: Allowance) -> Bool {
        seen[ControlState(host, plans: left.plans), default: Frontier()].insert(left)
    }

    /// A project that ends can always go on to its end, without anything going wrong.
    private mutating func checkProgress(_ place: Place, _ choices: [Choice]) {
        guard place.host.machine.isEnding, !place.host.isOver else { return }
        let free = choices.contains {
            guard case .free = $0.cost else { return false }
            return true
        }
        if !free { failure = explain("the project's stop is stuck", place.number, nil) }
    }

    /// What is gone moves nothing any more, and neither does time that only we lost.
    private mutating func tryStaleEvents(_ place: Place) {
        let before = ControlState(place.host, plans: place.allowance.plans)
        var events: [LifecycleEvent] = [.timer(.paused(.seconds(1)))]
        for seat in place.host.seats {
            guard let gone = seat.gone else { continue }
            events += [
                .process(gone, .mainExited(.code(1))), .process(gone, .treeEmpty),
                .process(gone, .launched), .message(gone, .ready), .timer(.fired(.start(gone))),
                .timer(.fired(.kill(gone))), .timer(.fired(.abandon(gone))),
            ]
        }
        for event in events {
            var next = place.host
            next.send(event)
            count.transitions += 1
            if let violation = next.violations.first {
                failure = explain("\(event): \(violation)", place.number, nil)
            }
            if ControlState(next, plans: place.allowance.plans) != before {
                failure = explain("\(event) is stale and changed something", place.number, nil)
            }
        }
    }

    /// The events that lead to a state, found by walking the way again.
    private func explain(_ words: String, _ number: Int, _ choice: Int?) -> String {
        var path: [Int] = choice.map { [$0] } ?? []
        var at = number
        while origins[at].from >= 0 {
            path.append(origins[at].choice)
            at = origins[at].from
        }
        var host = start
        host.command(.up)
        var allowance = firstAllowance
        var lines = [words + " after", "  up"]
        for choice in path.reversed() {
            let choices = host.choices(allowance)
            lines.append("  \(choices[choice].event)")
            host.send(choices[choice].event)
            allowance = allowance.after(choices[choice].cost)
            lines += host.output.decisions.map {
                "      \($0.service.map { "\($0)" } ?? "project"): \($0.what)"
            }
        }
        return lines.joined(separator: "\n")
    }

}
