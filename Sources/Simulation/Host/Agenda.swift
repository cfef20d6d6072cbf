import Stoic

/// What is due, in order: first what is due first, then what was planned first. An entry that was
/// called off stays until it would be due.
struct Agenda<Entry: Sendable>: Sendable {
    private var heap: [Item] = []

    struct Item: Sendable {
        let due: Duration
        let order: Int
        let entry: Entry

        fileprivate func isBefore(_ other: Item) -> Bool {
            due != other.due ? due < other.due : order < other.order
        }
    }

    /// What is due first.
    var first: Item? { heap.first }

    mutating func insert(_ entry: Entry, due: Duration, order: Int) {
        heap.append(Item(due: due, order: order, entry: entry))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].isBefore(heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func removeFirst() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].isBefore(heap[least]) {
                least = child
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
