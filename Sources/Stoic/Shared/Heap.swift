/// A binary heap: what is least comes out first. For what comes and goes in an order of its own,
/// such as timers and turns.
package struct Heap<Element: Comparable> {
    @usableFromInline var elements: [Element] = []

    /// Empty.
    @inlinable package init() {}

    /// How many there are.
    @inlinable package var count: Int { elements.count }

    /// The least.
    @inlinable package var first: Element? { elements.first }

    /// Adds one.
    /// - Complexity: O(log n); O(1) for one that is greater than all.
    @inlinable package mutating func insert(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard elements[child] < elements[parent] else { return }
            elements.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes the least out.
    /// - Complexity: O(log n).
    @inlinable package mutating func popFirst() -> Element? {
        guard let first = elements.first else { return nil }
        let last = elements.removeLast()
        guard !elements.isEmpty else { return first }
        elements[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < elements.count && elements[child] < elements[least] {
                least = child
            }
            guard least != parent else { return first }
            elements.swapAt(parent, least)
            parent = least
        }
    }

    /// Keeps those that `isWanted`.
    /// - Complexity: O(n log n); O(n) where they are in order already.
    package mutating func keep(where isWanted: (Element) -> Bool) {
        let all = elements
        elements = []
        for element in all where isWanted(element) { insert(element) }
    }
}

extension Heap: Equatable where Element: Equatable {}
extension Heap: Hashable where Element: Hashable {}
extension Heap: Sendable where Element: Sendable {}
