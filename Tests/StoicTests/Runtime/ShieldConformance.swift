import StoicTesting
import Synchronization
import Testing

@testable import Stoic

/// A shield that is to be tested: this library's, or the standard library's when it has one.
protocol ShieldUnderTest: Sendable {
    nonisolated(nonsending) static func run<R, E: Error>(
        _ body: nonisolated(nonsending) () async throws(E) -> R
    ) async throws(E) -> R
}

private final class Counter { var count = 0 }

private actor Account<Shield: ShieldUnderTest> {
    private var balance = 0

    func deposit() async -> Int {
        await Shield.run {
            self.assertIsolated()
            balance += 1
            await Task.yield()
            self.assertIsolated()
            balance += 1
            return balance
        }
    }
}

/// What a shield must do, whoever made it. Each check runs `Shield.run` in a simulation and
/// records what is wrong.
enum ShieldConformance<Shield: ShieldUnderTest> {
    /// Runs `body` in the shield on a task that is cancelled before, or once `body` has begun.
    private static func cancelled(
        before: Bool, _ body: @escaping @Sendable (SimulatedWorld) async throws -> Void
    ) async throws {
        try await simulate { world in
            let began = Completion<Void>()
            let task = spawn {
                if before { cancelCurrentTask() }
                do {
                    try await Shield.run {
                        began.fulfil(())
                        await Task.yield()
                        try await body(world)
                    }
                } catch {
                    Issue.record("the shielded body threw \(error)")
                }
                return Task.isCancelled
            }
            _ = await began.wait()
            task.cancel()
            #expect(await task.value, "the caller is cancelled again after the shield")
            #expect(world.clock.sleeperCount == 0)
        }
    }

    private static func cancelled(
        _ body: @escaping @Sendable (SimulatedWorld) async throws -> Void
    ) async throws {
        for before in [true, false] { try await cancelled(before: before, body) }
    }

    static func sleep() async throws {
        try await cancelled { world in
            #expect(!Task.isCancelled)
            try Task.checkCancellation()
            let begin = world.clock.now
            try await world.clock.sleep(for: .seconds(5))
            #expect(begin.duration(to: world.clock.now) == .seconds(5))
        }
    }

    static func groups() async throws {
        try await cancelled { world in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for second in 1...3 {
                    group.addTask {
                        #expect(!Task.isCancelled)
                        try await world.clock.sleep(for: .seconds(second))
                        return second
                    }
                }
                #expect(!group.isCancelled)
                let sum = try await group.reduce(0, +)
                #expect(sum == 6)
            }
            async let child: Void = world.clock.sleep(for: .seconds(1))
            try await child
        }
    }

    static func cancelsWithin() async throws {
        try await cancelled { world in
            await withTaskGroup { group in
                group.addTask {
                    do { try await world.clock.sleep(for: .seconds(60)) } catch {
                        return error is CancellationError
                    }
                    return false
                }
                group.cancelAll()
                #expect(await group.next() == true)
            }
            #expect(!Task.isCancelled)
        }
    }

    static func deadlines() async throws {
        try await cancelled { world in
            let begin = world.clock.now
            let result = await outcome {
                try await withTimeout(.seconds(5)) {
                    #expect(!Task.isCancelled)
                    try await world.clock.sleep(for: .seconds(60))
                    return 7
                }
            }
            #expect(result == .exceeded(DeadlineExceeded(limit: .seconds(5))))
            #expect(begin.duration(to: world.clock.now) == .seconds(5))
            let value = try await withTimeout(.seconds(5)) {
                try await world.clock.sleep(for: .seconds(1))
                return 7
            }
            #expect(value == 7)
            #expect(world.events.names == ["deadline.expired"])
        }
    }

    static func handlers() async throws {
        try await cancelled { world in
            let fired = Mutex(false)
            try await withTaskCancellationHandler {
                try await world.clock.sleep(for: .seconds(1))
            } onCancel: {
                fired.withLock { $0 = true }
            }
            #expect(!fired.withLock { $0 })
        }
    }

    static func taskLocals() async {
        await withAmbient {
            $0.random = .seeded(99)
        } operation: {
            await Shield.run {
                #expect(Ambient.current.random == .seeded(99))
                await Task.yield()
                #expect(Ambient.current.random == .seeded(99))
                await withAmbient {
                    $0.random = .seeded(5)
                } operation: {
                    await Shield.run { #expect(Ambient.current.random == .seeded(5)) }
                }
            }
        }
    }

    @MainActor static func mainActor() async {
        let counter = Counter()
        let same = await Shield.run {
            MainActor.assertIsolated()
            counter.count += 1
            await Task.yield()
            MainActor.assertIsolated()
            counter.count += 1
            return counter
        }
        #expect(same === counter && counter.count == 2)
    }

    static func otherActor() async {
        #expect(await Account<Shield>().deposit() == 2)
    }

    static func executor() async throws {
        try await simulate { world in
            func executor() -> ObjectIdentifier? {
                currentTaskExecutor().map { ObjectIdentifier($0) }
            }
            let outside = executor()
            #expect(outside != nil)
            try await Shield.run {
                #expect(executor() == outside)
                try await world.clock.sleep(for: .seconds(1))
                #expect(executor() == outside)
                await withTaskGroup { group in
                    group.addTask { #expect(executor() == outside) }
                }
            }
            #expect(executor() == outside)
        }
    }

    static func errors() async throws {
        do throws(OwnError) {
            try await Shield.run { () async throws(OwnError) in throw OwnError(number: 3) }
            Issue.record("nothing was thrown")
        } catch {
            #expect(error.number == 3)
        }
        await #expect(throws: OwnError.self) {
            try await Shield.run {
                await Task.yield()
                throw OwnError()
            }
        }
    }

    static func priority() async {
        let task = Task(priority: .high) {
            await Shield.run {
                await Task.yield()
                return Task.currentPriority
            }
        }
        #expect(await task.value >= .high)
    }

    static func nested() async throws {
        try await cancelled { world in
            try await Shield.run {
                try await world.clock.sleep(for: .seconds(1))
                try await Shield.run { try await world.clock.sleep(for: .seconds(1)) }
                #expect(!Task.isCancelled)
            }
            #expect(!Task.isCancelled)
        }
    }

    static func anyMoment() async throws {
        try await explore(seeds: 51) { world in
            let seed = world.seed
            let finished = Mutex(0)
            let tasks = (0..<8).map { _ in
                spawn {
                    await Task.yield()
                    await Shield.run {
                        for _ in 0..<3 { await Task.yield() }
                        await workStubbornly(.seconds(1))
                        if !Task.isCancelled { finished.withLock { $0 += 1 } }
                    }
                }
            }
            for task in tasks {
                await Task.yield()
                task.cancel()
            }
            for task in tasks { await task.value }
            #expect(finished.withLock { $0 } == 8, "seed \(seed)")
            #expect(world.clock.now.sinceOrigin <= .seconds(1) || !world.isPunctual)
        }
    }

    /// On real threads: the body suspends, and ends on another thread while its caller still
    /// looks after it.
    static func endsElsewhere() async {
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for count in 0..<10_000 {
                        let value = await Shield.run {
                            await Task.yield()
                            return count
                        }
                        if value != count { Issue.record("\(value) is not \(count)") }
                    }
                }
            }
        }
    }
}
