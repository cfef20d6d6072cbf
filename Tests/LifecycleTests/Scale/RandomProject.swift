import Simulation

@testable import Stoic

/// A project drawn from a seed: a graph, policies, and a world in which things go wrong.
struct RandomProject {
    private(set) var host: CheckedMachine
    private(set) var events = 0
    private var random: RandomSource

    init(services: Int, seed: UInt64) {
        var random = RandomSource.seeded(seed)
        let specs = (0..<services).map { Self.spec($0, &random) }
        let settings = LifecycleMachine.Settings(
            stopsInParallel: seed.isMultiple(of: 2), random: .seeded(seed))
        do { host = CheckedMachine(try LifecycleMachine(specs, settings: settings)) } catch {
            preconditionFailure("\(error)")
        }
        self.random = random
    }

    /// A service that needs up to three earlier ones, with any mix of policies.
    private static func spec(_ number: Int, _ random: inout RandomSource) -> ServiceSpec {
        var targets: Set<Int> = []
        for _ in 0..<Int.random(in: 0...3, using: &random) where number > 0 {
            targets.insert(Int.random(in: 0..<number, using: &random))
        }
        let isOneshot = Int.random(in: 0..<10, using: &random) == 0
        let needs = targets.sorted().map { target in
            Need(
                ServiceName("s\(target)"), required: Int.random(in: 0..<5, using: &random) > 0,
                onNeedLost: Need.OnNeedLost.allCases.randomElement(using: &random) ?? .ignore)
        }
        let reruns = Bool.random(using: &random)
        var spec = ServiceSpec(
            ServiceName("s\(number)"),
            kind: isOneshot ? .oneshot(rerunsWithNeeds: reruns, keepsTree: false) : .service,
            needs: needs, readiness: isOneshot ? .completion : .reported)
        spec.onStartFailure = .keep
        spec.restart.mode = RestartPolicy.Mode.allCases.randomElement(using: &random) ?? .onFailure
        spec.restart.limitCount = Int.random(in: 0...3, using: &random)
        spec.startAttempts = Int.random(in: 1...2, using: &random)
        if Int.random(in: 0..<5, using: &random) == 0 { spec.stopTimeout = .zero }
        return spec
    }

    /// `up`, so many random events, then the end of the project until nothing is left.
    mutating func run(events: Int) {
        host.command(.up)
        for number in 0..<events {
            guard step(faults: number.isMultiple(of: 10) ? 1 : 0) else { break }
            if number.isMultiple(of: 97) { command() }
        }
        if !host.machine.isEnding { host.command(.stopProject(.requested("test"))) }
        while step(faults: 0) {}
    }

    /// One of the events that can come next, at a service where some can.
    private mutating func step(faults: Int) -> Bool {
        guard !host.isOver, host.violations.isEmpty else { return false }
        let allowance = Allowance(faults: faults, commands: 0, verbs: .endOnly)
        let first = Int.random(in: 0..<host.seats.count, using: &random)
        var choices: [Choice] = []
        for offset in host.seats.indices {
            host.addEvents((first + offset) % host.seats.count, allowance, &choices)
            guard let choice = choices.randomElement(using: &random) else { continue }
            host.send(choice.event)
            events += 1
            return true
        }
        return false
    }

    private mutating func command() {
        guard !host.machine.isEnding, let id = host.machine.services.randomElement(using: &random)
        else { return }
        let verbs: [Command.Verb] = [.start([id]), .stop([id]), .down([id]), .restart([id]), .up]
        host.command(verbs.randomElement(using: &random) ?? .up)
    }
}
