import Stoic
import StoicLog
import StoicProcess
import StoicSubprocess
import StoicTesting

/// Calls every public async function from an actor, and changes its state in each closure that the
/// library runs on its caller's actor.
actor ActorClient {
    private(set) var notes = 0

    private func note() { notes += 1 }

    func surroundings() async throws {
        await withAmbient {
            $0.random = .seeded(7)
        } operation: {
            note()
        }
        let clock = AnyClock.continuous
        try await clock.sleep(until: clock.now)
        try await clock.sleep(for: .zero)
        await SilentInstrumentation().flush(within: .zero)
        await StandardErrorSink(from: .error).flush(within: .seconds(30))
        await JSONLinesSink(to: 2).flush(within: .seconds(30))
        let fanOut = InstrumentationFanOut([SilentInstrumentation()])
        await fanOut.flush(within: .seconds(30))
        await InstrumentationFilter(fanOut) { _ in true }.flush(within: .seconds(30))
        await JournalSink(identifier: "client").flush(within: .seconds(30))
        await SyslogSink(tag: "client").flush(within: .seconds(30))
    }

    func deadlines() async throws {
        await withDeadline(.in(.seconds(60))) { note() }
        _ = await withDeadline(.in(.zero)) { await Cancellation.wait() }
        try await withTimeout(.seconds(60)) { note() }
        try await withAbandoningDeadline(.in(.seconds(60)), label: "client") {}
        await ExpiringWork(grantSeconds: 60).run { _ in note() }
        let slot = WorkSlot<Int>("client")
        _ = try await slot.run(.replace) { 1 }
        await slot.close()
    }

    func retries() async throws {
        await retry(.immediate) { _ in note() }
        try await RetryBudget.ambientDefault.run { note() }
    }

    func policies() async throws {
        try await Bulkhead(limit: 1).run { note() }
        try await CircuitBreaker("client").run { note() }
        try await Fallback<Void>("client") { _ in }.run { note() }
        try await Hedge(after: .seconds(60)).run {}
        try await Pipeline().attemptDeadline(.seconds(60)).run { note() }
        let limiter = RateLimiter(rate: 1_000, per: .seconds(1), burst: 1_000)
        try await limiter.run { note() }
        try await limiter.acquire()
        try await Semaphore(limit: 1, queue: 0).acquire().release()
        try await Timeout(.seconds(60)).run { note() }
    }

    func concurrency() async throws {
        _ = try await gather({ 1 }, { "two" })
        _ = try await mapConcurrent([1, 2], limit: 2) { $0 + 1 }
        try await forEachConcurrent([1, 2], limit: 2) { _ in }
        _ = try await race({ 1 }, { 2 })
        _ = try await race({ 1 }, { 2 }, { 3 })
        _ = try await race([1, 2]) { $0 }
    }

    func owners() async throws {
        await withScope("client") { (scope: borrowing Scope) in
            note()
            _ = await scope.acquire("one") {
                note()
            } close: { _, _ in
            }
        }
        var rules = Supervision()
        rules.automaticEnd = .all
        try await withSupervisor("client", rules) { (supervisor: borrowing Supervisor) in
            note()
            try supervisor.add(ChildSpec("one", restart: .temporary, significant: true) {})
            await supervisor.waitForEnd()
        }
        let key = ServiceKey<Int>("one")
        let graph = try ServiceGraph(label: "client") { Provide(key) { _ in 1 } }
        try await graph.run { services in
            note()
            _ = services[key]
        }
        let machine = StateMachine(try Lamp.table())
        _ = try machine.send(.off)
        _ = try await machine.run()
        _ = try await machine.wait(for: .dark)
    }

    func simulation() async throws {
        try await explore(seeds: 1) { world in await world.settle() }
        try await simulate { world in
            let clock = world.clock
            async let sleep: Void = clock.sleep(until: clock.now.advanced(by: .seconds(9)))
            await clock.sleepers(count: 1)
            try await clock.advance(by: .seconds(60))
            try await sleep
        }
        try await expectNoAbandonedWork { note() }
        try await expectNoLeaks { note() }
        try await withFaults { note() }
        try await withGraph(try ServiceGraph(label: "client") {}) { _ in note() }
    }

    /// Compiled, and not called by a test: it ends with a signal, or waits for time that only a
    /// simulation lets pass.
    func endless(
        _ graph: ServiceGraph, _ clock: TestClock, _ child: ChildProcess
    ) async throws {
        _ = await child.unexpectedEnd()
        try await clock.sleep(until: clock.now)
        try await GracefulTermination.run(graph) { _ in note() }
        await GracefulTermination.runToExit(graph) { _ in note() }
    }
}
