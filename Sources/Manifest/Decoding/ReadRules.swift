import Stoic

extension ServiceReader {
    /// The rules for the brain, except those that depend on how it becomes ready and how it stops.
    mutating func readSpec() -> ServiceSpec {
        var spec = ServiceSpec(keys.name, kind: readKind(), needs: readNeeds())
        spec.startsAutomatically = keys["start"]?.text != "manual"
        readStartTimes(&spec)
        spec.startAttempts = keys["startAttempts"]?.integer.map { Int($0) } ?? spec.startAttempts
        spec.stopTimeout = keys["stopTimeout"]?.duration ?? spec.stopTimeout
        spec.restart = readRestart()
        spec.isEssential = flag("essential")
        spec.onStartFailure =
            keys["onStartFailure"]?.text.map { .init(word: $0) } ?? projectStartFailure
        spec.watchdog = keys.fitting("watchdog")?.duration
        return spec
    }

    private func readKind() -> ServiceSpec.Kind {
        guard keys.isOneshot else { return .service }
        return .oneshot(
            rerunsWithNeeds: keys["rerun"]?.text == "withNeeds", keepsTree: flag("keepTree"))
    }

    private mutating func readNeeds() -> [Need] {
        guard let given = keys["needs"] else { return [] }
        var needs: [Need] = []
        for entry in given.map ?? [] {
            var need = Need(ServiceName(entry.key))
            let options = entry.value.object
            need.condition = options?["condition"]?.text.map { .init(word: $0) } ?? .ready
            need.isRequired = options?["required"]?.flag ?? true
            need.onNeedLost = options?["onNeedLost"]?.text.map { .init(word: $0) } ?? .ignore
            needSpots[need.service] = Spot(place: entry.spot.place, path: given.path)
            needs.append(need)
        }
        for item in given.list ?? [] {
            guard let name = item.text.map({ ServiceName($0) }) else { continue }
            let spot = Spot(place: item.place, path: given.path)
            if let first = needSpots[name] {
                log.error(spot, "\(name) is already listed at \(first.place)")
                continue
            }
            needSpots[name] = spot
            needs.append(Need(name))
        }
        return needs
    }

    private func readStartTimes(_ spec: inout ServiceSpec) {
        if keys.isOneshot {
            spec.startTimeout = keys["timeout"]?.duration ?? spec.startTimeout
            // One from the defaults is meant for services: a migration may well take longer.
            if !keys.fromDefaults.contains("startTimeout"),
                let own = keys["startTimeout"]?.duration
            {
                spec.startTimeout = min(spec.startTimeout, own)
            }
            spec.startTimeoutMax = spec.startTimeout
            return
        }
        spec.startTimeout = keys["startTimeout"]?.duration ?? spec.startTimeout
        spec.startTimeoutMax = (spec.startTimeout.clamped * 10).clamped
        guard let most = keys["startTimeoutMax"], let duration = most.duration else { return }
        spec.startTimeoutMax = duration
        if duration < spec.startTimeout {
            log.error(
                most,
                "\(durationText(duration)) is less than startTimeout, which is "
                    + durationText(spec.startTimeout))
        }
    }

    private func readRestart() -> RestartPolicy {
        var policy = RestartPolicy()
        guard let given = keys["restart"] else { return policy }
        let object = given.object
        let word = given.text ?? object?["policy"]?.text
        policy.mode = word.map { .init(word: $0) } ?? policy.mode
        if keys.isOneshot, policy.mode == .always {
            policy.mode = .onFailure
            if !keys.fromDefaults.contains("restart") {
                log.error(
                    given, "a oneshot is not restarted after it completed",
                    suggestion: "use onFailure, or type: service")
            }
        }
        policy.resetAfter = object?["resetAfter"]?.duration ?? policy.resetAfter
        if let backoff = object?["backoff"]?.object { policy.backoff = schedule(backoff) }
        let limit = object?["limit"]?.object
        policy.limitCount = limit?["count"]?.integer.map { Int($0) } ?? policy.limitCount
        policy.limitWindow = limit?["window"]?.duration ?? policy.limitWindow
        return policy
    }

    private func schedule(_ backoff: CheckedObject) -> Schedule {
        let initial = backoff["initial"]?.duration ?? .milliseconds(500)
        let cap = backoff["max"]?.duration ?? .seconds(30)
        if initial > cap {
            log.error(
                backoff["initial"].map(Spot.init) ?? Spot(backoff),
                "initial (\(durationText(initial))) is longer than max (\(durationText(cap)))")
        }
        let jitter = backoff["jitter"]?.number ?? 0.2
        return Schedule.exponential(
            base: initial, factor: backoff["factor"]?.number ?? 2, cap: cap
        ).jittered((1 - jitter)...1)
    }
}

extension Spot {
    init(_ located: some Located) { self.init(place: located.place, path: located.path) }
}

// The words of the schema's choices. Each has been checked against its list.

extension ServiceSpec.StartFailureRule {
    init(word: String) { self = word == "keep" ? .keep : .rollback }
}

extension Need.Condition {
    init(word: String) {
        switch word {
        case "started": self = .started
        case "completed": self = .completed
        default: self = .ready
        }
    }
}

extension Need.OnNeedLost {
    init(word: String) {
        switch word {
        case "wait": self = .wait
        case "restart": self = .restart
        default: self = .ignore
        }
    }
}

extension RestartPolicy.Mode {
    init(word: String) {
        switch word {
        case "no": self = .no
        case "always": self = .always
        default: self = .onFailure
        }
    }
}
