import Stoic
import StoicLog
import StoicProcess
import StoicSubprocess
import StoicTesting

// Calls every public async function from top-level code, and changes a global variable in each
// closure that the library runs on its caller's actor.

var notes = 0

do {
    await withAmbient {
        $0.random = .seeded(7)
    } operation: {
        notes += 1
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

do {
    await withDeadline(.in(.seconds(60))) { notes += 1 }
    _ = await withDeadline(.in(.zero)) { await Cancellation.wait() }
    try await withTimeout(.seconds(60)) { notes += 1 }
    try await withAbandoningDeadline(.in(.seconds(60)), label: "client") {}
    await ExpiringWork(grantSeconds: 60).run { _ in notes += 1 }
    let slot = WorkSlot<Int>("client")
    _ = try await slot.run(.replace) { 1 }
    await slot.close()
}

do {
    await retry(.immediate) { _ in notes += 1 }
    try await RetryBudget.ambientDefault.run { notes += 1 }
}

do {
    try await Bulkhead(limit: 1).run { notes += 1 }
    try await CircuitBreaker("client").run { notes += 1 }
    try await Fallback<Void>("client") { _ in }.run { notes += 1 }
    try await Hedge(after: .seconds(60)).run {}
    try await Pipeline().attemptDeadline(.seconds(60)).run { notes += 1 }
    let limiter = RateLimiter(rate: 1_000, per: .seconds(1), burst: 1_000)
    try await limiter.run { notes += 1 }
    try await limiter.acquire()
    try await Semaphore(limit: 1, queue: 0).acquire().release()
    try await Timeout(.seconds(60)).run { notes += 1 }
}

do {
    _ = try await gather({ 1 }, { "two" })
    _ = try await mapConcurrent([1, 2], limit: 2) { $0 + 1 }
    try await forEachConcurrent([1, 2], limit: 2) { _ in }
    _ = try await race({ 1 }, { 2 })
    _ = try await race({ 1 }, { 2 }, { 3 })
    _ = try await race([1, 2]) { $0 }
}

do {
    await withScope("client") { (scope: borrowing Scope) in
        notes += 1
        _ = await scope.acquire("one") {
            notes += 1
        } close: { _, _ in
        }
    }
    var rules = Supervision()
    rules.automaticEnd = .all
    try await withSupervisor("client", rules) { (supervisor: borrowing Supervisor) in
        notes += 1
        try supervisor.add(ChildSpec("one", restart: .temporary, significant: true) {})
        await supervisor.waitForEnd()
    }
    let key = ServiceKey<Int>("one")
    let graph = try ServiceGraph(label: "client") { Provide(key) { _ in 1 } }
    try await graph.run { services in
        notes += 1
        _ = services[key]
    }
    let machine = StateMachine(try Lamp.table())
    _ = try machine.send(.off)
    _ = try await machine.run()
    _ = try await machine.wait(for: .dark)
}

do {
    try await explore(seeds: 1) { world in await world.settle() }
    try await simulate { world in
        let clock = world.clock
        async let sleep: Void = clock.sleep(until: clock.now.advanced(by: .seconds(9)))
        await clock.sleepers(count: 1)
        try await clock.advance(by: .seconds(60))
        try await sleep
    }
    try await expectNoAbandonedWork { notes += 1 }
    try await expectNoLeaks { notes += 1 }
    try await withFaults { notes += 1 }
    try await withGraph(try ServiceGraph(label: "client") {}) { _ in notes += 1 }
}

// Compiled, and not run by a test: it ends with a signal, or waits for time that only a simulation
// lets pass.
if CommandLine.arguments.contains("endless") {
    let key = ServiceKey<ChildProcess>("child")
    let helper = Provide.process(key) { _ in ProcessCommand(["sleep", "60"], ready: .started) }
    let child = try await ServiceGraph(label: "client") { helper }.run { services in services[key] }
    _ = await child.unexpectedEnd()
    let clock = TestClock()
    let graph = try ServiceGraph(label: "client") {}
    try await clock.sleep(until: clock.now)
    try await GracefulTermination.run(graph) { _ in notes += 1 }
    await GracefulTermination.runToExit(graph) { _ in notes += 1 }
}

print("called everything, \(notes) notes")
