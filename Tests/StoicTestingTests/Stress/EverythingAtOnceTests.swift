import StoicTesting
import Synchronization
import Testing

@testable import Stoic

/// What happened in one run, each thing with its place in the order of all.
private final class Story: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }
    func note(_ line: String) { lines.withLock { $0.append(line) } }
    func count(_ line: String) -> Int { lines.withLock { all in all.count { $0 == line } } }
    func place(_ line: String) -> Int? { lines.withLock { $0.firstIndex(of: line) } }
}

/// A hung start, a slow finalizer, a deadline that passes, a caller that is cancelled and ten
/// minutes of sleep, all in one run; when each of them comes is up to the seed.
private struct Scenario: Sendable {
    static let database = ServiceKey<String>("database")
    static let hung = ServiceKey<String>("hung")
    static let cache = ServiceKey<String>("cache")
    /// No run takes longer, in time awake: the start's timeout, both budgets, and a second for what
    /// is cut in each.
    static let longest = Duration.seconds(5 + 30 + 1 + 20 + 1)

    let world: SimulatedWorld
    let story = Story()
    let deadline: Duration
    let cancelAfter: Duration
    let sleepAfter: Duration
    let hangs: Duration
    let finalizes: Duration
    let bodyTakes: Duration

    init(_ world: SimulatedWorld) {
        self.world = world
        var random = RandomSource.seeded(world.seed)
        func upTo(_ seconds: Int) -> Duration {
            .milliseconds(Int.random(in: 0...(seconds * 10), using: &random) * 100)
        }
        deadline = upTo(20)
        cancelAfter = upTo(30)
        sleepAfter = upTo(30)
        hangs = upTo(40)
        finalizes = upTo(12)
        bodyTakes = upTo(10)
    }

    /// Takes `duration` awake and does not care who is cancelled.
    func stubborn(_ duration: Duration) async {
        await shielded {
            do { try await world.awakeClock.sleep(for: duration) } catch { return }
        }
    }

    func graph() throws -> ServiceGraph {
        try ServiceGraph(label: "app") {
            service(Self.database, needs: []) { try await world.awakeClock.sleep(for: .seconds(1)) }
            service(Self.hung, needs: [Self.database.any]) { await stubborn(hangs) }
            service(Self.cache, needs: [Self.database.any]) {
                try await world.awakeClock.sleep(for: .seconds(2))
            }
        }
    }

    private func service(
        _ key: ServiceKey<String>, needs: [AnyServiceKey],
        _ start: @escaping @Sendable () async throws -> Void
    ) -> Provide {
        Provide(key, needs: needs, startTimeout: .seconds(5)) { _ in
            try await start()
            story.note("up \(key.name)")
            return key.name
        } stop: { name, _ in
            story.note("stop \(name)")
            await stubborn(.milliseconds(500))
            story.note("down \(name)")
        }
    }

    /// What the caller does.
    func run() async throws {
        try await withDeadline(.in(deadline)) {
            try await withScope("session", exitBudget: .seconds(20)) { (scope: borrowing Scope) in
                _ = await scope.acquire("file") {
                    story.note("open file")
                } close: { _, _ in
                    story.note("close file")
                }
                scope.onExit("slow") { _ in
                    story.note("slow finalizer")
                    await stubborn(finalizes)
                }
                try await graph().run { _ in
                    story.note("body")
                    try await world.awakeClock.sleep(for: bodyTakes)
                }
            }
        }
    }
}

@Suite("everything at once", .timeLimit(.minutes(30)))
struct EverythingAtOnceTests {
    @Test(
        "TST-25: a hung start, a slow finalizer, a deadline, a cancel, ten minutes of sleep at once"
    )
    func everything() async throws {
        try await explore(seeds: 50) { world in
            let scenario = Scenario(world)
            try await withAmbient {
                $0.livenessClock = world.awakeClock
            } operation: {
                try await expectNoAbandonedWork {
                    try await expectNoLeaks { try await play(scenario) }
                }
            }
        }
    }

    private func play(_ scenario: Scenario) async throws {
        let world = scenario.world
        let caller = spawn { () -> (any Error)? in
            do { try await scenario.run() } catch { return error }
            return nil
        }
        let others = [
            spawn {
                do { try await world.clock.sleep(for: scenario.cancelAfter) } catch { return }
                caller.cancel()
            },
            spawn {
                do { try await world.clock.sleep(for: scenario.sleepAfter) } catch { return }
                world.sleepMachine(for: .seconds(600))
            },
        ]
        let error = await caller.value
        let took = world.awakeClock.now.sinceOrigin
        for other in others { await other.value }
        // What was left behind ends: nothing hangs for longer than this, also where it begins late.
        try await world.clock.advance(by: .seconds(1_000))
        judge(scenario, error)
        if world.order != .earlyTimers { #expect(took <= Scenario.longest, "\(took)") }
    }

    private func isExpected(_ error: ServiceGraphError, _ order: SimulatedOrder) -> Bool {
        guard case .startFailed(let failure) = error else { return false }
        // Where timers overtake, any start may come too late.
        return failure.key == Scenario.hung.any || order == .earlyTimers
    }

    private func judge(_ scenario: Scenario, _ error: (any Error)?) {
        let story = scenario.story
        let isKnown =
            switch error {
            case nil: story.count("body") == 1
            case is CancellationError: true
            case let failed as ServiceGraphError: isExpected(failed, scenario.world.order)
            default: false
            }
        #expect(isKnown, "\(String(describing: error))")
        for key in [Scenario.database, Scenario.hung, Scenario.cache] {
            let ups = story.count("up \(key.name)")
            #expect(ups <= 1)
            #expect(story.count("stop \(key.name)") == ups, "\(key): \(story.all)")
            #expect(story.count("down \(key.name)") == ups, "\(key): \(story.all)")
        }
        // What is needed stops last, unless what needs it was left behind or no time was left.
        let names = scenario.world.events.names
        let isCut =
            names.contains("service.stopAbandoned") || names.contains("graph.exitBudgetExceeded")
        if !isCut, let last = story.place("stop database") {
            for key in [Scenario.hung, Scenario.cache] {
                #expect((story.place("down \(key.name)") ?? -1) < last, "\(story.all)")
            }
        }
        #expect(story.count("open file") == story.count("close file"))
        #expect(story.count("open file") == story.count("slow finalizer"))
        let defects = names.filter { $0.hasSuffix(".defect") }
        #expect(defects.isEmpty)
    }
}
