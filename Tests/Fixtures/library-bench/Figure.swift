import CAllocations

/// What one operation costs.
struct Figure {
    /// How often memory was asked for, by all threads, rounded to halves.
    let allocations: Double
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
/// Both numbers are those of the best batch: other work can only add to them.
nonisolated(nonsending) func measure(
    _ amount: Amount, _ operation: nonisolated(nonsending) () async throws -> Void
) async throws -> Figure {
    let count = Double(amount.count)
    var nanoseconds = Double.infinity
    var allocations = Double.infinity
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
    }
    return Figure(allocations: (allocations * 2).rounded() / 2, nanoseconds: nanoseconds)
}

/// Keeps the compiler from leaving out what makes `value`.
@inline(never)
func keep<T: ~Copyable>(_ value: borrowing T) {}
