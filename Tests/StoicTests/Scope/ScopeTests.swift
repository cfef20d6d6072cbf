import StoicTesting
import Synchronization
import Testing

@testable import Stoic

struct Broken: Error, Equatable { let what: String }

/// Remembers what happened, in order.
final class Log: Sendable {
    private let kept = Mutex<[String]>([])
    var lines: [String] { kept.withLock { $0 } }
    func note(_ line: String) { kept.withLock { $0.append(line) } }

    /// Work with a limit that it keeps, and with one that cuts it: both as if nobody was cancelled.
    func noteBounds(_ world: SimulatedWorld) async throws {
        for seconds in [1, 60] {
            let end = await outcome {
                try await withTimeout(.seconds(2)) {
                    try await world.clock.sleep(for: .seconds(seconds))
                    return seconds
                }
            }
            note("\(end) at \(world.clock.now.sinceOrigin)")
        }
    }

    /// What `noteBounds` notes if it begins at this moment.
    static func bounds(from begin: Duration) -> [String] {
        let ends: [Outcome] = [.value(1), .exceeded(DeadlineExceeded(limit: .seconds(2)))]
        return zip(ends, [1, 3]).map { "\($0) at \(begin + .seconds($1))" }
    }
}

@Suite("withScope", .timeLimit(.minutes(20)))
struct ScopeTests {
    /// Runs a scope with two finalizers, and gives back what they saw.
    private func finalizersOf(
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws -> [String] {
        try await simulate { world in
            let log = Log()
            do {
                try await withScope("s") { (scope: borrowing Scope) in
                    scope.onExit("a") { log.note("a \($0.summary)") }
                    scope.onExit("b") { log.note("b \($0.summary)") }
                    try await body()
                }
            } catch { log.note("threw") }
            #expect(world.events.names == ["scope.opened", "scope.closing", "scope.closed"])
            return log.lines
        }
    }

    @Test("SCO-1: finalizers run in reverse, and are told how the body ended")
    func exits() async throws {
        #expect(try await finalizersOf {} == ["b success", "a success"])
        let failed = try await finalizersOf { throw Broken(what: "x") }
        #expect(failed == ["b failure", "a failure", "threw"])
        let cancelled = try await finalizersOf {
            cancelCurrentTask()
            try Task.checkCancellation()
        }
        #expect(cancelled == ["b cancelled: requested", "a cancelled: requested", "threw"])
    }

    @Test("SCO-2: a finalizer of a cancelled scope sleeps, groups and bounds its own work")
    func finalizersAreShielded() async throws {
        try await simulate { world in
            let log = Log()
            let task = spawn {
                await withScope("s") { (scope: borrowing Scope) async in
                    scope.onExit("a") { _ in
                        try await world.clock.sleep(for: .seconds(1))
                        await withTaskGroup { group in
                            for _ in 0..<3 {
                                group.addTask { log.note("cancelled \(Task.isCancelled)") }
                            }
                        }
                        try await log.noteBounds(world)
                    }
                    do { try await world.clock.sleep(for: .seconds(100)) } catch {}
                }
            }
            try await world.clock.sleep(for: .seconds(2))
            task.cancel()
            await task.value
            let expected = Array(repeating: "cancelled false", count: 3)
            #expect(log.lines == expected + Log.bounds(from: .seconds(3)))
            #expect(
                world.events.names == [
                    "scope.opened", "scope.closing", "deadline.expired", "scope.closed",
                ])
        }
    }

    @Test("SCO-3: one that hangs is cut, one that ignores that is left behind; the next runs")
    func hangingFinalizers() async throws {
        try await simulate { world in
            let log = Log()
            let never = Completion<Void>()
            await withScope("s") { (scope: borrowing Scope) async in
                scope.onExit("last") { _ in log.note("last at \(world.clock.now.sinceOrigin)") }
                scope.onExit("polite", timeout: .seconds(5)) { _ in
                    try await world.clock.sleep(for: .seconds(100))
                }
                scope.onExit("deaf", timeout: .seconds(5)) { _ in
                    await shielded { _ = await never.wait() }
                    throw Broken(what: "late")
                }
            }
            #expect(log.lines == ["last at \(Duration.seconds(11))"])
            #expect(
                world.events.names == [
                    "scope.opened", "scope.closing", "scope.finalizerAbandoned",
                    "scope.finalizerTimedOut", "scope.closed",
                ])
            #expect(AbandonedWork.inProcess >= 1)
            never.fulfil(())
            try await world.clock.sleep(for: .seconds(1))
            #expect(world.events.names.last == "scope.finalizerFailed")
        }
    }

    @Test("SCO-4: ten finalizers hang: all are called, and the whole end fits its budget")
    func budget() async throws {
        try await simulate { world in
            let log = Log()
            let never = Completion<Void>()
            await withScope("s", exitBudget: .seconds(30)) { (scope: borrowing Scope) async in
                for number in 0..<10 {
                    scope.onExit("f\(number)", timeout: .seconds(5)) { _ in
                        log.note("f\(number)")
                        await shielded { _ = await never.wait() }
                    }
                }
            }
            #expect(log.lines.count == 10)
            #expect(world.clock.now.sinceOrigin <= .seconds(30))
            #expect(world.events.names.filter { $0 == "scope.finalizerAbandoned" }.count == 10)
            never.fulfil(())
        }
    }

    @Test("SCO-5: a finalizer that throws is reported; the others run, the result is kept")
    func throwingFinalizer() async throws {
        try await simulate { world in
            let log = Log()
            let value = await withScope("s") { (scope: borrowing Scope) async in
                scope.onExit("a") { _ in log.note("a") }
                scope.onExit("b") { _ in throw Broken(what: "b") }
                return 7
            }
            #expect(value == 7)
            #expect(log.lines == ["a"])
            #expect(world.events.names.contains("scope.finalizerFailed"))
        }
    }

    @Test("SCO-6: what a finalizer registers runs next; after the end it is refused")
    func registeredByFinalizer() async throws {
        try await simulate { world in
            let log = Log()
            let cleanup = await withScope("s") { (scope: borrowing Scope) async in
                let cleanup = scope.cleanup
                scope.onExit("a") { _ in log.note("a") }
                scope.onExit("b") { _ in
                    log.note("b")
                    cleanup.onExit("c") { _ in log.note("c") }
                }
                return cleanup
            }
            #expect(log.lines == ["b", "c", "a"])
            #expect(!cleanup.onExit("late") { _ in log.note("late") })
            #expect(world.events.names.last == "scope.rejectedAfterClose")
        }
    }

    @Test("SCO-7: a cancel at any moment leaks nothing that was opened")
    func acquireUnderCancel() async throws {
        try await explore(seeds: 2_500) { world in
            let seed = world.seed
            let open = Mutex(0)
            let task = spawn {
                do {
                    try await withScope("s") { (scope: borrowing Scope) in
                        for _ in 0..<3 {
                            _ = await scope.acquire("r") {
                                await Task.yield()
                                open.withLock { $0 += 1 }
                                await Task.yield()
                                return 1
                            } close: { _, _ in
                                open.withLock { $0 -= 1 }
                            }
                            try Task.checkCancellation()
                        }
                    }
                } catch {}
            }
            let canceller = spawn {
                for _ in 0..<(seed % 7) { await Task.yield() }
                task.cancel()
            }
            await canceller.value
            await task.value
            #expect(open.withLock { $0 } == 0, "seed \(seed)")
            let usual = ["scope.opened", "scope.closing", "scope.closed"]
            #expect(world.events.names == usual || !world.isPunctual, "seed \(seed)")
        }
    }

    @Test("SCO-8: a fork that fails cancels the body, and comes out beside its error")
    func failingFork() async throws {
        try await simulate { world in
            let log = Log()
            do {
                try await withScope("s") { (scope: borrowing Scope) in
                    scope.onExit("a") { log.note("exit \($0.summary)") }
                    scope.fork("f") { throw Broken(what: "fork") }
                    do { try await world.clock.sleep(for: .seconds(100)) } catch {
                        log.note("cause \(Cancellation.cause?.description ?? "none")")
                        throw Broken(what: "body")
                    }
                }
                Issue.record("a failed fork comes out")
            } catch let error as ConcurrentFailure<any Error> {
                #expect(error.all.compactMap { ($0 as? Broken)?.what } == ["fork", "body"])
            }
            #expect(log.lines == ["cause work beside it failed", "exit failure"])
            #expect(world.events.names.contains("scope.forkFailed"))
            let value = await withScope("t") { (scope: borrowing Scope) async in
                scope.fork("f", onFailure: .isolated) { throw Broken(what: "fork") }
                do { try await world.clock.sleep(for: .seconds(1)) } catch { return 0 }
                return 1
            }
            #expect(value == 1)
        }
    }

    @Test("SCO-9: a fork that outlives the body is cancelled and awaited before any finalizer")
    func forkOutlivesBody() async throws {
        try await simulate { world in
            let log = Log()
            await withScope("s") { (scope: borrowing Scope) async in
                scope.onExit("a") { _ in log.note("finalizer") }
                scope.fork("f") {
                    do { try await world.clock.sleep(for: .seconds(100)) } catch {
                        log.note("cause \(Cancellation.cause?.description ?? "none")")
                        await shielded { await Task.yield() }
                        log.note("fork")
                    }
                }
                await Task.yield()
            }
            #expect(log.lines == ["cause its scope closed", "fork", "finalizer"])
            #expect(world.events.names == ["scope.opened", "scope.closing", "scope.closed"])
        }
    }

    @Test("SCO-11: an inner scope has closed before an outer finalizer runs")
    func nested() async throws {
        try await simulate { world in
            let log = Log()
            await withScope("outer") { (outer: borrowing Scope) async in
                outer.onExit("o") { _ in log.note("outer") }
                await withScope("inner") { (inner: borrowing Scope) async in
                    inner.onExit("i") { _ in
                        await Task.yield()
                        log.note("inner")
                    }
                }
            }
            #expect(log.lines == ["inner", "outer"])
            #expect(world.events.events.contains { $0.scopePath == ["outer", "inner"] })
            let closed = world.events.events.filter { $0.name == .scopeClosed }
            #expect(closed.map(\.scopePath) == [["outer", "inner"], ["outer"]])
        }
    }

    @Test("SCO-12: under work that was left behind a resource is closed, or leaked on purpose")
    func quarantine() async throws {
        try await simulate { world in
            let log = Log()
            let never = Completion<Void>()
            let before = Quarantine.count
            await withScope("s") { (scope: borrowing Scope) async in
                for policy in [Scope.AbandonPolicy.close, .quarantine] {
                    _ = await scope.acquire("\(policy)", ifWorkAbandoned: policy) {
                        1
                    } close: {
                        _, _ in
                        log.note("\(policy)")
                    }
                }
                scope.fork("deaf") { await shielded { _ = await never.wait() } }
                await Task.yield()
            }
            #expect(log.lines == ["close"])
            #expect(Quarantine.count == before + 1)
            #expect(world.events.names.contains("scope.quarantined"))
            #expect(world.events.names.contains("scope.abandonedWork"))
            never.fulfil(())
        }
    }
}
