/// In which order a simulation runs what could run.
///
/// An order has a text form, which stands in the report of a failure and is taken back from the
/// environment (`SIM_ORDER`): `fifo`, `uniform`, `pct3@420`, `early`, `picks:17=2,31=timer`.
public enum SimulatedOrder: Hashable, Sendable {
    /// The one that has waited longest.
    case firstComeFirstServed
    /// Any, each as likely.
    case uniform
    /// Every task has a priority of its own, and the highest runs; at `depth - 1` steps the running
    /// task falls behind all others. Finds every fault that takes `depth` tasks in one certain
    /// order with a known probability (Burckhardt and others 2010).
    ///
    /// `horizon` is how many steps a run is expected to have; `explore` learns it from the first
    /// run of each seed, and otherwise it is 1,000.
    case pct(depth: Int, horizon: Int?)
    /// As `uniform`, but a timer may fire before work that is ready: a machine that is slow.
    case earlyTimers
    /// The one that has waited longest, except at these steps.
    case picks([Int: SimulatedPick])

    /// As `pct` of depth 3: most faults take two or three tasks.
    public static let pct = SimulatedOrder.pct(depth: 3, horizon: nil)

    /// What `explore` tries with every seed.
    public static let portfolio: [SimulatedOrder] = [
        .firstComeFirstServed, .uniform, .pct, .earlyTimers,
    ]

    /// Those of the portfolio under which time moves only when nothing can run.
    public static let punctual: [SimulatedOrder] = [.firstComeFirstServed, .uniform, .pct]
}

/// What runs next, where that is not the task that has waited longest.
public enum SimulatedPick: Hashable, Sendable {
    /// The task at this place of those that are ready, the one that has waited longest being 0.
    case ready(Int)
    /// The next timer, although a task is ready.
    case timer
}

extension SimulatedOrder: CustomStringConvertible {
    /// The text form.
    public var description: String {
        switch self {
        case .firstComeFirstServed: return "fifo"
        case .uniform: return "uniform"
        case .pct(let depth, let horizon):
            return "pct\(depth)" + (horizon.map { "@\($0)" } ?? "")
        case .earlyTimers: return "early"
        case .picks(let picks):
            let parts = picks.sorted { $0.key < $1.key }.map { step, pick in
                switch pick {
                case .ready(let place): "\(step)=\(place)"
                case .timer: "\(step)=timer"
                }
            }
            return "picks:" + parts.joined(separator: ",")
        }
    }

    /// The order that a text form stands for; `nil` for anything else.
    public init?(_ text: String) {
        switch text {
        case "fifo": self = .firstComeFirstServed
        case "uniform": self = .uniform
        case "early": self = .earlyTimers
        default:
            if text.hasPrefix("pct") {
                let parts = text.dropFirst(3).split(
                    separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
                guard let depth = parts.first.flatMap({ Int($0) }), depth > 0 else { return nil }
                guard parts.count == 2 else {
                    self = .pct(depth: depth, horizon: nil)
                    return
                }
                guard let horizon = Int(parts[1]), horizon > 0 else { return nil }
                self = .pct(depth: depth, horizon: horizon)
            } else if text.hasPrefix("picks:"), let picks = Self.picks(of: text.dropFirst(6)) {
                self = .picks(picks)
            } else {
                return nil
            }
        }
    }

    private static func picks(of text: Substring) -> [Int: SimulatedPick]? {
        var picks: [Int: SimulatedPick] = [:]
        for part in text.split(separator: ",") {
            let sides = part.split(separator: "=")
            guard sides.count == 2, let step = Int(sides[0]) else { return nil }
            if sides[1] == "timer" {
                picks[step] = .timer
            } else {
                guard let place = Int(sides[1]), place >= 0 else { return nil }
                picks[step] = .ready(place)
            }
        }
        return picks
    }
}
