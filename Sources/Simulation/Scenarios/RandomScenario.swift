package import Stoic

/// A project with everything drawn from a seed: the graph, its policies, how its processes behave,
/// and what befalls them.
package enum RandomScenario {
    /// The scenario of this seed, of one to `most` services.
    package static func of(seed: UInt64, most: Int = 12) -> Scenario {
        var random = RandomSource.seeded(seed &* 0x9E37_79B9 &+ 1)
        let count = Int.random(in: 1...max(most, 1), using: &random)
        let specs = (0..<count).map { spec($0, &random) }
        var scenario = Scenario(specs)
        scenario.stopsInParallel = Bool.random(using: &random)
        scenario.exitBudget = .seconds(Int.random(in: 1...40, using: &random))
        for spec in specs { scenario.behaviours[spec.name] = behaviour(spec, &random) }
        return scenario.withIncidents(seed: seed)
    }

    /// A service that needs up to three earlier ones, with any mix of policies.
    private static func spec(_ number: Int, _ random: inout RandomSource) -> ServiceSpec {
        let isOneshot = oneIn(8, &random)
        var spec = ServiceSpec(
            ServiceName("s\(number)"),
            kind: isOneshot
                ? .oneshot(rerunsWithNeeds: oneIn(2, &random), keepsTree: oneIn(3, &random))
                : .service,
            needs: needs(number, &random),
            readiness: isOneshot ? .completion : oneIn(3, &random) ? .launch : .reported)
        spec.onStartFailure = oneIn(3, &random) ? .rollback : .keep
        // A config refuses to restart what completed.
        spec.restart.mode = any(
            isOneshot ? [.no, .onFailure] : RestartPolicy.Mode.allCases, &random)
        spec.restart.limitCount = Int.random(in: 0...4, using: &random)
        spec.startAttempts = Int.random(in: 1...3, using: &random)
        spec.startTimeout = .seconds(Int.random(in: 1...30, using: &random))
        spec.startTimeoutMax = spec.startTimeout * (isOneshot ? 1 : 10)
        spec.stopTimeout =
            oneIn(6, &random) ? .zero : .seconds(Int.random(in: 1...20, using: &random))
        spec.ladder = any(ladders, &random)
        spec.isEssential = oneIn(12, &random)
        spec.startsAutomatically = !oneIn(10, &random)
        if !isOneshot, oneIn(6, &random) { spec.watchdog = .seconds(10) }
        if !isOneshot, oneIn(6, &random) {
            spec.liveThreshold = Int.random(in: 1...3, using: &random)
        }
        return spec
    }

    private static func needs(_ number: Int, _ random: inout RandomSource) -> [Need] {
        guard number > 0 else { return [] }
        var targets: Set<Int> = []
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            targets.insert(Int.random(in: 0..<number, using: &random))
        }
        return targets.sorted().map { target in
            Need(
                ServiceName("s\(target)"),
                oneIn(5, &random) ? any(Need.Condition.allCases, &random) : .ready,
                required: !oneIn(5, &random),
                onNeedLost: any(Need.OnNeedLost.allCases, &random))
        }
    }

    private static let ladders: [[Rung]] = [
        Rung.standard, Rung.standard, [Rung(.signal(2, .main), wait: .seconds(2))],
        [Rung(.command(0)), Rung(.signal(15, .tree))], [Rung(.message)],
    ]

    private static func behaviour(
        _ spec: ServiceSpec, _ random: inout RandomSource
    ) -> Behaviour {
        var behaviour = Behaviour(of: spec)
        let ready = Duration.milliseconds(Int.random(in: 0...2_000, using: &random))
        if spec.kind == .service { behaviour.ready = ready }
        let end = Duration.milliseconds(Int.random(in: 0...1_000, using: &random))
        behaviour.term = end
        behaviour.command = end
        if oneIn(4, &random) {
            behaviour.hasChannel = true
            behaviour.answer = oneIn(3, &random) ? .only : .exits(after: end)
        }
        return behaviour
    }

    private static func oneIn(_ count: Int, _ random: inout RandomSource) -> Bool {
        Int.random(in: 0..<count, using: &random) == 0
    }

    private static func any<Value>(_ values: [Value], _ random: inout RandomSource) -> Value {
        values[Int.random(in: values.indices, using: &random)]
    }
}

extension Behaviour {
    /// What a process of this service does when nothing is known of it but its rules: it is ready
    /// after 100 ms, a oneshot completes after a second, and 100 ms after it is told to end it has.
    package init(of spec: ServiceSpec) {
        self.init()
        launch = .milliseconds(5)
        ready = .milliseconds(100)
        term = .milliseconds(100)
        command = .milliseconds(100)
        pings = spec.watchdog != nil
        switch spec.kind {
        case .service: exits = [nil]
        case .oneshot: exits = [Exit(after: .seconds(1), status: .code(0))]
        }
    }
}
