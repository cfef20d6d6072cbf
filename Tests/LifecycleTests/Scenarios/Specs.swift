import Simulation

@testable import Stoic

/// A service of a scenario: ready when it says so.
func spec(
    _ name: ServiceName, needs: [ServiceName] = [], _ vary: (inout ServiceSpec) -> Void = { _ in }
) -> ServiceSpec {
    var spec = ServiceSpec(name, needs: needs.map { Need($0) }, readiness: .reported)
    spec.restart.backoff = .exponential(base: .milliseconds(500), factor: 2, cap: .seconds(30))
    vary(&spec)
    return spec
}

/// A oneshot of a scenario.
func oneshot(
    _ name: ServiceName, needs: [ServiceName] = [], reruns: Bool = false, keepsTree: Bool = false
) -> ServiceSpec {
    spec(name, needs: needs) {
        $0.kind = .oneshot(rerunsWithNeeds: reruns, keepsTree: keepsTree)
        $0.readiness = .completion
        $0.startTimeout = .seconds(3_600)
    }
}

/// Services each of which needs the one before: `a`, `b needs a`, `c needs b`.
func chain(_ names: [ServiceName], _ vary: (inout ServiceSpec) -> Void = { _ in }) -> [ServiceSpec]
{
    names.indices.map { spec(names[$0], needs: $0 == 0 ? [] : [names[$0 - 1]], vary) }
}

extension Stage {
    /// The lines from the last `keyword` of the project on.
    func log(since keyword: String) -> [String] {
        let start = log.lastIndex { $0.hasSuffix(keyword) } ?? log.startIndex
        return Array(log[start...])
    }

    /// The lines about one service, without its name.
    func log(of name: ServiceName) -> [String] {
        log.compactMap { line in
            let words = line.split(separator: " ", maxSplits: 2)
            return words[1] == name.text ? "\(words[0]) \(words[2])" : nil
        }
    }

    /// How often a service was launched.
    func launches(of name: ServiceName) -> Int {
        log(of: name).count { $0.split(separator: " ").dropFirst() == ["launch"] }
    }
}
