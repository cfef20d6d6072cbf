import Testing

@testable import EventLoop

/// The same promises, kept by sorting everything every time.
private struct NaiveAlarms {
    private var entries: [(id: Int, deadline: Int64)] = []

    var count: Int { entries.count }
    var earliest: Int64? { entries.map(\.deadline).min() }

    mutating func insert(_ id: Int, deadline: Int64) {
        remove(id)
        entries.append((id, deadline))
    }

    @discardableResult
    mutating func remove(_ id: Int) -> Bool {
        let before = entries.count
        entries.removeAll { $0.id == id }
        return entries.count < before
    }

    mutating func popEarliest() -> Int? {
        guard let earliest, let index = entries.firstIndex(where: { $0.deadline == earliest })
        else { return nil }
        return entries.remove(at: index).id
    }
}

/// SplitMix64: the same numbers for the same seed.
private struct SeededNumbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

@Suite("AlarmHeap", .timeLimit(.minutes(1)))
struct AlarmHeapTests {
    /// Few identities and few deadlines meet often; many make the heap deep.
    private static let spreads: [(identities: Int, deadlines: Int64)] = [
        (8, 4), (64, 16), (300, 1_000_000),
    ]

    @Test(
        "does what sorting does, in 10,000 random steps",
        arguments: [UInt64(1), 2, 3], spreads)
    func agrees(seed: UInt64, spread: (identities: Int, deadlines: Int64)) {
        var numbers = SeededNumbers(state: seed)
        var heap = AlarmHeap<Int>()
        var naive = NaiveAlarms()
        for step in 0..<10_000 {
            let id = Int.random(in: 0..<spread.identities, using: &numbers)
            switch Int.random(in: 0..<10, using: &numbers) {
            case 0..<6:
                let deadline = Int64.random(in: 0..<spread.deadlines, using: &numbers)
                heap.insert(id, deadline: deadline)
                naive.insert(id, deadline: deadline)
            case 6..<8:
                #expect(heap.remove(id) == naive.remove(id), "seed \(seed), step \(step)")
            default:
                #expect(heap.popEarliest() == naive.popEarliest(), "seed \(seed), step \(step)")
            }
            guard heap.count == naive.count, heap.earliest?.deadline == naive.earliest else {
                Issue.record("the heap went wrong: seed \(seed), step \(step)")
                return
            }
        }
        while let id = naive.popEarliest() { #expect(heap.popEarliest() == id) }
        #expect(heap.popEarliest() == nil)
    }
}
