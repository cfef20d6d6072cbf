/// What somebody who follows a stream of ours has not taken yet: a bounded queue that gives up its
/// oldest element, and counts it, when its reader is slow. Nobody ever waits for a reader.
///
/// It belongs to the loop's thread, on both ends.
public final class Follower<Element> {
    private var waiting: [Element] = []
    private var first = 0
    private var dropped: UInt64 = 0
    private var state = State.open
    private let capacity: Int
    private let accepts: (Element) -> Bool

    private enum State { case open, closed }

    /// Called when something is there to take and nothing was before. It must not take at once if
    /// it cannot: it is called again only after the queue was emptied.
    public var onAvailable: (() -> Void)?

    /// - Parameter capacity: how many elements wait at most; at least 1.
    init(capacity: Int, accepts: @escaping (Element) -> Bool) {
        self.capacity = max(capacity, 1)
        self.accepts = accepts
    }

    /// Whether anything waits.
    public var isEmpty: Bool { first == waiting.count }

    /// Whether nothing will come any more.
    public var isClosed: Bool {
        switch state {
        case .open: false
        case .closed: true
        }
    }

    /// Takes up to `limit` elements, oldest first, and how many were dropped before the first of
    /// them since the last call.
    public func take(_ limit: Int = .max) -> (dropped: UInt64, elements: [Element]) {
        let end = first + min(max(limit, 0), waiting.count - first)
        let taken = Array(waiting[first..<end])
        first = end
        compact()
        defer { dropped = 0 }
        return (dropped, taken)
    }

    /// Wants nothing any more. Whoever feeds it forgets it.
    public func close() {
        state = .closed
        onAvailable = nil
        waiting = []
        first = 0
    }

    func offer(_ element: Element) {
        guard !isClosed, accepts(element) else { return }
        let wasEmpty = isEmpty
        if waiting.count - first == capacity {
            first += 1
            dropped += 1
            compact()
        }
        waiting.append(element)
        if wasEmpty { onAvailable?() }
    }

    /// Frees the places of taken elements once they are the larger half.
    private func compact() {
        if first == waiting.count {
            waiting.removeAll(keepingCapacity: waiting.capacity <= 256)
            first = 0
        } else if first > 32, first > waiting.count / 2 {
            waiting.removeFirst(first)
            first = 0
        }
    }
}
