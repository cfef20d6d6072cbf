import CProcess
import Glibc
import Orchestrator
import Stoic

extension Scenario {
    /// Launches with few and with many descriptors open, taken in turns so that whatever else the
    /// machine does hits both. Others can only make a launch slower, so the quickest of each are
    /// compared, and a difference is looked at again before it is believed.
    static func cost(_ setting: Setting) throws {
        let stage = try setting.stage()
        var few: [Double] = []
        var many: [Double] = []
        var ratio = Double.infinity
        for round in 0..<60 where round < 12 || ratio >= 1.5 {
            few += try launches(stage, 25)
            let extra = (0..<10_000).map { _ in fcntl(0, F_DUPFD_CLOEXEC, 300) }.filter { $0 >= 0 }
            try check(extra.count >= 9_000, "only \(extra.count) descriptors can be opened")
            many += try launches(stage, 25)
            for descriptor in extra { close(descriptor) }
            ratio = quick(many) / quick(few)
        }
        complain(
            "a launch takes \(Int(quick(few))) µs, with 10,000 descriptors open "
                + "\(Int(quick(many))) µs: \(ratio) times")
        try check(ratio < 1.5, "launches cost more with many descriptors")
        try stage.close()
    }

    /// The mean of the ten quickest.
    private static func quick(_ times: [Double]) -> Double {
        let best = times.sorted().prefix(10)
        return best.reduce(0, +) / Double(best.count)
    }

    /// From the request to the outcome, each.
    private static func launches(_ stage: Stage, _ count: Int) throws -> [Double] {
        try (0..<count).map { _ in
            let begin = microseconds()
            let outcome = try stage.outcome(of: stage.request(["/bin/true"]))
            let end = microseconds()
            guard case .launched(let process) = outcome else {
                throw Complaint(text: "a launch failed")
            }
            let tree = try ProcessTree(process, token: 1, leaf: nil, orphans: stage.orphans)
            try stage.wait { tree.isEmpty }
            tree.close()
            return end - begin
        }
    }

    /// A strict reverse stop of 300 services, one after the other.
    static func stopCost(_ setting: Setting) throws {
        let stage = try setting.stage()
        let actors = try (0..<300).map { _ in try stage.launch("/bin/sleep", "60") }
        let before = processorTime()
        let times = try actors.reversed().map { actor in
            let begin = microseconds()
            actor.tree.signal(SIGTERM, to: .group)
            try stage.wait { actor.isEmpty }
            return microseconds() - begin
        }
        let own = (processorTime() - before) / 300
        complain("a stop takes \(Int(quick(times))) µs and \(Int(own)) µs of our processor time")
        // A look at every process would cost thousands.
        try check(own < 1000, "a stop takes \(own) µs of our processor time")
        for actor in actors {
            try check(
                actor.facts == [.mainExited(.signal(SIGTERM, coreDumped: false)), .empty],
                "\(actor.facts)")
        }
        try stage.close()
    }
}
