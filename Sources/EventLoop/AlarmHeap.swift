/// A binary heap of deadlines that can be found by identity, so that one can be taken out.
///
/// Ties come out in the order they were put in. The heap holds small records; where each one is
/// stands in `positions`, by slot, so that moving a record costs no hashing.
struct AlarmHeap<ID: Hashable> {
    /// A moment on the heap's clock, in nanoseconds; of two equal ones the smaller order is first.
    struct Due: Comparable {
        var deadline: Int64
        var order: UInt64

        static func < (left: Due, right: Due) -> Bool {
            left.deadline == right.deadline
                ? left.order < right.order : left.deadline < right.deadline
        }
    }

    private struct Record {
        var due: Due
        var slot: Int
    }

    /// Slots whose memory an empty heap keeps.
    private static var keptSlots: Int { 64 }

    private var records: [Record] = []
    private var positions: [Int] = []
    private var identities: [ID?] = []
    private var freeSlots: [Int] = []
    private var slots: [ID: Int] = [:]
    /// The order the next record gets: every record of now is below it.
    private(set) var nextOrder: UInt64 = 0

    /// How many identities have a deadline.
    var count: Int { records.count }

    /// What is due first.
    var earliest: Due? { records.first?.due }

    /// Gives `id` a deadline, behind all with the same one; an earlier deadline of it is forgotten.
    /// - Complexity: O(log n).
    mutating func insert(_ id: ID, deadline: Int64) {
        let due = Due(deadline: deadline, order: nextOrder)
        nextOrder += 1
        if let slot = slots[id] {
            let position = positions[slot]
            records[position].due = due
            restore(position)
            return
        }
        let slot = takeSlot(for: id)
        slots[id] = slot
        positions[slot] = records.count
        records.append(Record(due: due, slot: slot))
        siftUp(records.count - 1)
    }

    /// Forgets the deadline of `id`; false if it had none.
    /// - Complexity: O(log n).
    @discardableResult
    mutating func remove(_ id: ID) -> Bool {
        guard let slot = slots.removeValue(forKey: id) else { return false }
        removeRecord(at: positions[slot])
        return true
    }

    /// Takes out what is due first.
    /// - Complexity: O(log n).
    mutating func popEarliest() -> ID? {
        guard let first = records.first, let id = identities[first.slot] else { return nil }
        slots[id] = nil
        removeRecord(at: 0)
        return id
    }

    private mutating func takeSlot(for id: ID) -> Int {
        if let slot = freeSlots.popLast() {
            identities[slot] = id
            return slot
        }
        identities.append(id)
        positions.append(0)
        return identities.count - 1
    }

    private mutating func removeRecord(at position: Int) {
        let slot = records[position].slot
        let last = records.removeLast()
        identities[slot] = nil
        freeSlots.append(slot)
        if records.isEmpty, identities.count > Self.keptSlots { forgetSlots() }
        guard position < records.count else { return }
        place(last, at: position)
        restore(position)
    }

    /// A burst of deadlines must not cost its memory for ever.
    private mutating func forgetSlots() {
        records = []
        positions = []
        identities = []
        freeSlots = []
        slots = [:]
    }

    private mutating func restore(_ position: Int) {
        siftDown(position)
        siftUp(position)
    }

    private mutating func place(_ record: Record, at position: Int) {
        records[position] = record
        positions[record.slot] = position
    }

    private mutating func siftUp(_ start: Int) {
        let record = records[start]
        var position = start
        while position > 0 {
            let parent = (position - 1) / 2
            guard record.due < records[parent].due else { break }
            place(records[parent], at: position)
            position = parent
        }
        place(record, at: position)
    }

    private mutating func siftDown(_ start: Int) {
        let record = records[start]
        var position = start
        while true {
            var child = 2 * position + 1
            guard child < records.count else { break }
            if child + 1 < records.count, records[child + 1].due < records[child].due { child += 1 }
            guard records[child].due < record.due else { break }
            place(records[child], at: position)
            position = child
        }
        place(record, at: position)
    }
}
