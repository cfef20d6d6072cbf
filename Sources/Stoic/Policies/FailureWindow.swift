/// Counts calls and failures of the last while, in a ring of equal buckets.
///
/// Time is whole nanoseconds and never goes back. A bucket belongs to one slot of time; what is
/// older than the ring is long is not counted, however far the time has jumped.
struct FailureWindow {
    struct Totals: Hashable {
        var calls = 0
        var failures = 0
    }

    private struct Bucket {
        var slot: Int64 = -1
        var totals = Totals()
    }

    private let width: Int64
    private var buckets: [Bucket]

    /// - Parameters:
    ///   - length: How far it looks back, in nanoseconds; at least one for each bucket.
    ///   - count: How many buckets; at least 1.
    init(length: Int64, buckets count: Int) {
        width = max(1, length / Int64(count))
        buckets = Array(repeating: Bucket(), count: count)
    }

    /// Counts one call.
    mutating func record(failed: Bool, at now: Int64) {
        let slot = now / width
        let place = Int(slot % Int64(buckets.count))
        if buckets[place].slot != slot { buckets[place] = Bucket(slot: slot) }
        buckets[place].totals.calls += 1
        if failed { buckets[place].totals.failures += 1 }
    }

    /// What was counted in the slot of `now` and those before it that are still in the ring.
    func totals(at now: Int64) -> Totals {
        let oldest = now / width - Int64(buckets.count) + 1
        var totals = Totals()
        for bucket in buckets where bucket.slot >= max(oldest, 0) {
            totals.calls += bucket.totals.calls
            totals.failures += bucket.totals.failures
        }
        return totals
    }

    /// Forgets everything.
    mutating func clear() {
        for place in buckets.indices { buckets[place] = Bucket() }
    }
}
