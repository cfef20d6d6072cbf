import Stoic

/// What is due, in order: first what is due first, then what was planned first. An entry that was
/// called off stays until it would be due.
struct Agenda<Entry: Sendable>: Sendable {
    private var heap = Heap<Item>()

    struct Item: Comparable, Sendable {
        let due: Duration
        let order: Int
        let entry: Entry

        static func == (left: Item, right: Item) -> Bool {
            left.due == right.due && left.order == right.order
        }

        static func < (left: Item, right: Item) -> Bool {
            left.due != right.due ? left.due < right.due : left.order < right.order
        }
    }

    /// What is due first.
    var first: Item? { heap.first }

    mutating func insert(_ entry: Entry, due: Duration, order: Int) {
        heap.insert(Item(due: due, order: order, entry: entry))
    }

    mutating func removeFirst() { _ = heap.popFirst() }
}
