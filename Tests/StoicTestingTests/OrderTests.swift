import Glibc
import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("simulation, orders", .timeLimit(.minutes(20)))
struct OrderTests {
    @Test("TST-1: a fault of one order is found by any of the searching orders")
    func found() async throws {
        for order in [SimulatedOrder.uniform, .pct, .pct(depth: 2, horizon: nil), .earlyTimers] {
            let failure = await failure(seeds: 300, under: [order], losesAnUpdate)
            #expect(failure?.failure == "LostUpdate()", "\(order)")
        }
        // The usual order hides it: that is what makes it a fault of the order.
        #expect(await failure(under: [.firstComeFirstServed], losesAnUpdate) == nil)
    }

    @Test("TST-1: only a timer that fires early finds trust in the time")
    func earlyTimer() async throws {
        #expect(await failure(under: SimulatedOrder.punctual, trustsTheTime) == nil)
        let failure = try #require(await failure(trustsTheTime))
        #expect(failure.order == .earlyTimers)
        #expect(failure.reduced?.count == 1)
        #expect(failure.reduced?.first?.value == .timer)
        #expect(failure.story.first?.contains("a timer fires although task") == true)
    }

    @Test("TST-2: a failing seed is reduced to the fewest preemptions, which fail again")
    func reduced() async throws {
        let failure = try #require(await failure(under: [.uniform], losesAnUpdate))
        let picks = try #require(failure.reduced)
        #expect(picks.count < failure.preemptionsFound)
        let text = SimulatedOrder.picks(picks).description
        let order = try #require(SimulatedOrder(text))
        await #expect(throws: LostUpdate.self) {
            try await simulate(seed: failure.seed, order: order, losesAnUpdate)
        }
        await #expect(throws: LostUpdate.self) {
            try await simulate(seed: failure.seed, order: failure.order, losesAnUpdate)
        }
        for step in picks.keys {
            var fewer = picks
            fewer[step] = nil
            try await simulate(seed: failure.seed, order: .picks(fewer), losesAnUpdate)
        }
        #expect(failure.description.contains("SIM_SEED=\(failure.seed) SIM_ORDER=uniform"))
        #expect(failure.description.contains("SIM_ORDER=\(text)"))
    }

    @Test("TST-2: the report says which task of the library ran before which")
    func story() async throws {
        let failure = try #require(
            await failure(under: [.uniform]) { world in
                let cell = Cell()
                try await withScope("work") { (scope: borrowing Scope) in
                    scope.fork("first") {
                        let before = cell.value
                        await Task.yield()
                        cell.value = before + 1
                    }
                    scope.fork("second") {
                        for _ in 0..<3 { await Task.yield() }
                        cell.value += 1
                    }
                    try await world.clock.sleep(for: .seconds(1))
                }
                if cell.value != 2 { throw LostUpdate() }
            })
        #expect(failure.story.contains { $0.contains("Stoic/ScopeCore.swift:") })
    }

    @Test("TST-3: one seed and one order are one run, to the last event")
    func repeatable() async throws {
        for order in SimulatedOrder.portfolio {
            for seed in UInt64(0)..<10 {
                let first = try await story(seed, order)
                #expect(try await story(seed, order) == first, "seed \(seed), \(order)")
            }
        }
        let stories = try await [story(1, .uniform), story(2, .uniform), story(3, .pct)]
        #expect(Set(stories).count > 1)
    }

    private func story(_ seed: UInt64, _ order: SimulatedOrder) async throws -> [String] {
        try await simulate(seed: seed, order: order) { world in
            let log = Mutex<[String]>([])
            let limiter = Semaphore("s", limit: 2, queue: 10)
            _ = try await mapConcurrent(0..<8, limit: 4) { number in
                let permit = try await limiter.acquire()
                try await world.clock.sleep(for: .milliseconds(number % 3))
                log.withLock { $0.append("\(number) at \(world.clock.now.sinceOrigin)") }
                permit.release()
            }
            return log.withLock { $0 } + world.events.names
        }
    }

    @Test("TST-4: a task that gives way until another has run does not hold it up under PCT")
    func yielding() async throws {
        try await explore(seeds: 20) { _ in
            let cell = Cell()
            await withTaskGroup { group in
                group.addTask { while cell.value == 0 { await Task.yield() } }
                group.addTask { cell.value = 1 }
            }
        }
    }

    @Test("TST-5: a body that goes round in circles ends, and says so")
    func livelock() async throws {
        let error = try await thrown(SimulatedLivelock.self) {
            try await simulate(seed: 3) { _ in
                while !Task.isCancelled { await Task.yield() }
            }
        }
        #expect(error?.seed == 3)
        #expect("\(try #require(error))".contains("goes round in circles"))
    }

    @Test("TST-6: a failure that does not repeat is said to come from outside")
    func notRepeatable() async throws {
        let runs = Atomic<Int>(0)
        let failure = await failure { _ in
            if runs.add(1, ordering: .relaxed).newValue == 7 { throw LostUpdate() }
        }
        #expect(failure?.reduced == nil)
        #expect(failure?.description.contains("something outside of the simulation") == true)
    }

    @Test("TST-7: an expectation that fails is found, reduced and reported as an error is")
    func expectation() async throws {
        let reported = Mutex<SimulatedFailure?>(nil)
        // What explore keeps back is shown as known; the failure itself is for the test to throw.
        let failure = await failure(seeds: 3, under: [.uniform]) { world in
            #expect(world.seed != 2, "planted")
        }
        reported.withLock { $0 = failure }
        #expect(failure?.seed == 2)
        #expect(failure?.reduced?.isEmpty == true)
        #expect(failure?.failure.contains("planted") == true)
    }

    @Test("TST-8: SIM_SEED and SIM_ORDER run just that, STOIC_SEEDS says how many")
    func environment() async {
        await #expect(processExitsWith: .success) {
            set("STOIC_SEEDS", "7")
            let runs = Mutex<[UInt64]>([])
            try await explore(seeds: 100, under: [.uniform]) { world in
                runs.withLock { $0.append(world.seed) }
            }
            #expect(runs.withLock { $0 } == Array(0..<7))
            set("SIM_SEED", "17")
            set("SIM_ORDER", "picks:3=1")
            runs.withLock { $0 = [] }
            try await explore { world in runs.withLock { $0.append(world.seed) } }
            #expect(runs.withLock { $0 } == [17])
        }
    }

    @Test("an order reads as it is written")
    func text() {
        let orders: [SimulatedOrder] = [
            .firstComeFirstServed, .uniform, .pct, .pct(depth: 2, horizon: 420), .earlyTimers,
            .picks([:]), .picks([3: .ready(2), 17: .timer]),
        ]
        for order in orders { #expect(SimulatedOrder(order.description) == order) }
        for text in ["", "pct", "pct0", "pct3@", "pct3@x", "picks:3", "picks:3=-1", "random"] {
            #expect(SimulatedOrder(text) == nil, "\(text)")
        }
    }
}

private func set(_ name: String, _ value: String) { _ = unsafe setenv(name, value, 1) }
