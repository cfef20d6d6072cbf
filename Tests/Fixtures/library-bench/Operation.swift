import Stoic
import Synchronization

/// What is measured, each against the bare thing its name ends with.
struct Operation {
    /// What the time is divided by.
    enum Bare: String {
        /// A mutex, locked and unlocked.
        case mutex
        /// A task of its own, awaited.
        case task

        func figure(batches: Int) async throws -> Figure {
            switch self {
            case .mutex:
                let mutex = Mutex(0)
                return try await measure(Amount(10_000, batches)) { mutex.withLock { $0 += 1 } }
            case .task: return try await measure(Amount(1_000, batches)) { await Task {}.value }
            }
        }
    }

    let name: String
    let bare: Bare
    /// The most it may allocate, and the longest it may take, whatever was recorded.
    let target: Target?
    /// How many services it runs: each has to cost the same, however many there are.
    var services: Int?
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
        // What the loop around it takes is not its own.
        let nothing: @Sendable () async throws -> Void = {}
        self.init(name: name, bare: bare, target: target) {
            let loop = try await measure(amount) { try await nothing() }
            let whole = try await measure(amount) { try await operation() }
            return Figure(
                allocations: whole.allocations, mostAllocations: whole.mostAllocations,
                nanoseconds: whole.nanoseconds - loop.nanoseconds)
        }
    }

    /// The figure of this operation, and the time of the bare thing just before or after it: a
    /// machine is not as quick at one moment as at the next.
    func figures(batches: Int) async throws -> (own: Figure, bare: Double) {
        let before = try await bare.figure(batches: batches)
        let own = try await run()
        let after = try await bare.figure(batches: batches)
        return (own, min(before.nanoseconds, after.nanoseconds))
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
                "shield", to: .task, Amount(100, batches * 50), target: Target(nanoseconds: 1_000)
            ) {
                await shielded {}
            },
            Operation(
                "withDeadline, at once", to: .task, Amount(100, batches * 50),
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
            var operation = Operation(
                "ServiceGraph.run, \(size) services", to: .task,
                Amount(max(1, 100 / size), batches)
            ) {
                try await graph.run { _ in }
            }
            operation.services = size
            operations.append(operation)
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
