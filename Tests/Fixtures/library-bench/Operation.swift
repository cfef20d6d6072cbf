import Stoic
import Synchronization

/// What is measured, each against the bare thing its name ends with.
struct Operation {
    /// What the time is divided by.
    enum Bare: String, CaseIterable {
        /// A mutex, locked and unlocked.
        case mutex
        /// A task of its own, awaited.
        case task
    }

    let name: String
    let bare: Bare
    /// The most it may allocate, and the longest it may take, whatever was recorded.
    let target: Target?
    let run: @concurrent () async throws -> Figure

    struct Target {
        var allocations: Double?
        var nanoseconds: Double?
    }
}

extension Operation {
    init(
        _ name: String, to bare: Bare, _ amount: Amount, target: Target? = nil,
        _ operation: @escaping @Sendable () async throws -> Void
    ) {
        self.init(name: name, bare: bare, target: target) {
            try await measure(amount) { try await operation() }
        }
    }

    /// The bare things.
    static func bare(batches: Int) async throws -> [Bare: Figure] {
        let mutex = Mutex(0)
        return [
            .mutex: try await measure(Amount(10_000, batches)) { mutex.withLock { $0 += 1 } },
            .task: try await measure(Amount(1_000, batches)) { await Task {}.value },
        ]
    }

    /// Everything, in the order of the table.
    static func all(batches: Int) -> [Operation] {
        admissions(batches) + deadlines(batches) + owners(batches)
    }

    private static func admissions(_ batches: Int) -> [Operation] {
        let breaker = CircuitBreaker("bench")
        let semaphore = Semaphore(limit: 1, queue: 0)
        let bulkhead = Bulkhead(limit: 1)
        let limiter = RateLimiter(rate: 1_000_000_000, per: .seconds(1), burst: 1_000_000_000)
        let free = Target(allocations: 0)
        let place = Mutex((Schedule.State(), RandomSource.seeded(7)))
        return [
            Operation("Ambient.current", to: .mutex, Amount(10_000, batches), target: free) {
                keep(Ambient.current)
            },
            Operation("CircuitBreaker.admit", to: .mutex, Amount(10_000, batches), target: free) {
                try breaker.admit().succeed()
            },
            Operation("Semaphore.tryAcquire", to: .mutex, Amount(10_000, batches), target: free) {
                semaphore.tryAcquire()?.release()
            },
            Operation("Semaphore.acquire", to: .mutex, Amount(10_000, batches), target: free) {
                try await semaphore.acquire().release()
            },
            Operation("Bulkhead.run", to: .mutex, Amount(10_000, batches), target: free) {
                try await bulkhead.run {}
            },
            Operation("RateLimiter.tryAcquire", to: .mutex, Amount(10_000, batches), target: free) {
                keep(limiter.tryAcquire())
            },
            Operation("Schedule.next", to: .mutex, Amount(10_000, batches), target: free) {
                place.withLock {
                    keep(Schedule.standard.next(&$0.0, elapsed: .zero, random: &$0.1))
                }
            },
        ]
    }

    private static func deadlines(_ batches: Int) -> [Operation] {
        [
            Operation(
                "shield", to: .task, Amount(100, batches * 10), target: Target(nanoseconds: 1_000)
            ) {
                await shielded {}
            },
            Operation(
                "withDeadline, at once", to: .task, Amount(100, batches * 10),
                target: Target(nanoseconds: 5_000)
            ) {
                await withDeadline(.in(.seconds(60))) {}
            },
            Operation("withDeadline, suspending", to: .task, Amount(1_000, batches)) {
                await withDeadline(.in(.seconds(60))) { await Task.yield() }
            },
            Operation("retry, first attempt", to: .task, Amount(1_000, batches)) {
                await retry { _ in }
            },
        ]
    }

    private static func owners(_ batches: Int) -> [Operation] {
        var operations = [
            Operation("withScope", to: .task, Amount(1_000, batches)) {
                await withScope("bench") { (scope: borrowing Scope) in }
            },
            Operation("withScope, one finalizer", to: .task, Amount(1_000, batches)) {
                await withScope("bench") { (scope: borrowing Scope) in scope.onExit("end") { _ in }
                }
            },
        ]
        for size in [10, 100, 1_000] {
            let graph = chain(size)
            operations.append(
                Operation(
                    "ServiceGraph.run, \(size) services", to: .task,
                    Amount(max(1, 100 / size), batches)
                ) {
                    try await graph.run { _ in }
                })
        }
        return operations
    }

    /// Services of which each needs the one before it.
    private static func chain(_ size: Int) -> ServiceGraph {
        let keys = (0..<size).map { ServiceKey<Int>("service \($0)") }
        let provides = keys.indices.map { index in
            Provide(keys[index], needs: index > 0 ? [keys[index - 1].any] : []) { _ in index }
        }
        do { return try ServiceGraph(label: "bench") { provides } } catch {
            preconditionFailure("a chain is a graph: \(error)")
        }
    }
}
