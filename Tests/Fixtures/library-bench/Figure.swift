import CAllocations

/// What one operation costs.
struct Figure {
    /// How often memory was asked for, by all threads, rounded to halves.
    let allocations: Double
    /// The same of the batch with the most. Where tasks run beside each other, their order decides:
    /// whether a timer begins, who is waited for.
    let mostAllocations: Double
    /// The quickest of several batches: what the machine did beside it only ever adds.
    let nanoseconds: Double
}

/// How often something is done.
struct Amount {
    /// Operations in a batch.
    let count: Int
    let batches: Int

    init(_ count: Int, _ batches: Int) {
        self.count = count
        self.batches = batches
    }
}

/// Measures `operation` in batches, after one that warms up.
///
/// Other work can only add, so the best batch tells what it costs.
nonisolated(nonsending) func measure(
    _ amount: Amount, _ operation: nonisolated(nonsending) () async throws -> Void
) async throws -> Figure {
    let count = Double(amount.count)
    var nanoseconds = Double.infinity
    var allocations = Double.infinity
    var most = 0.0
    let clock = ContinuousClock()
    for batch in 0...amount.batches {
        let before = callocations_count()
        let begin = clock.now
        for _ in 0..<amount.count { try await operation() }
        let time = begin.duration(to: clock.now)
        let allocated = callocations_count() - before
        guard batch > 0 else { continue }
        nanoseconds = min(nanoseconds, time / .nanoseconds(1) / count)
        allocations = min(allocations, Double(allocated) / count)
        most = max(most, Double(allocated) / count)
    }
    return Figure(
        allocations: (allocations * 2).rounded() / 2, mostAllocations: most.rounded(.up),
        nanoseconds: nanoseconds)
}

/// Keeps the compiler from leaving out what makes `value`.
@inline(never)
func keep<T: ~Copyable>(_ value: borrowing T) {}
