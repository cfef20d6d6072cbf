import Stoic

/// What a stop of some services takes along, and when it is over. Which services that are, the
/// brain decided; here is only looked.
extension Engine {
    /// One that is to end: the service, and the launch that has to be gone.
    typealias StopTarget = (service: ServiceID, life: Incarnation)

    /// The launches that end by a stop of `named`: theirs, and those the brain stops with them.
    func stopTargets(_ named: [ServiceID], _ decisions: [LifecycleDecision]) -> [StopTarget] {
        var targets: [StopTarget] = []
        var seen: Set<ServiceID> = []
        for id in named + decisions.compactMap(Self.stopped) where seen.insert(id).inserted {
            if let life = machine.state(of: id).incarnation { targets.append((id, life)) }
        }
        return targets
    }

    private static func stopped(_ decision: LifecycleDecision) -> ServiceID? {
        switch decision.what {
        // `noted`: it was being stopped already, or has outlived an earlier stop.
        case .stopRequested, .stopping, .noted: decision.service
        default: nil
        }
    }

    /// The last line once none of these launches is left, or what is left cannot be killed. A
    /// service that somebody started again meanwhile was stopped all the same.
    ///
    /// - Parameter words: What is said of a success.
    func stopLine(_ targets: [StopTarget], _ words: String) -> JSONValue? {
        var survivors: [JSONValue] = []
        for target in targets where machine.has(target.service) {
            let state = machine.state(of: target.service)
            guard state.incarnation == target.life else { continue }
            guard case .abandoned = state else { return nil }
            survivors += survivorsOf(target.life).map(\.json)
        }
        guard survivors.isEmpty else {
            return .result(3, "survivors", "something outlived the stop", survivors: survivors)
        }
        return .result(0, "done", words)
    }

    /// `db is stopped, and with it api, web`: the last two went along.
    func stoppedWords(_ named: [ServiceID], _ targets: [StopTarget]) -> String {
        let along = targets.map(\.service).filter { !named.contains($0) }.map(name)
        let isOne = named.count == 1
        let subject = isOne ? "\(name(named[0])) is stopped" : "all are stopped"
        guard !along.isEmpty else { return subject }
        return "\(subject), and with \(isOne ? "it" : "them") \(along.joined(separator: ", "))"
    }

    /// The processes of a launch that are still there.
    func survivorsOf(_ life: Incarnation) -> [ProjectResult.Survivor] {
        guard let live = lives[life] else { return [] }
        return (live.tree?.members() ?? []).map {
            .init(service: live.name.text, pid: $0.pid, command: $0.command)
        }
    }
}
