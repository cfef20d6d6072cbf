/// Finds one shortest cycle in each knot of a graph: each strongly connected component that has
/// one.
struct CycleSearch {
    let needs: [[Int]]

    /// The cycles, each once round, beginning with its service that was declared first.
    /// - Complexity: O(services + needs) to find the knots, and that again within each knot.
    func cycles() -> [[Int]] {
        knots().compactMap { knot in
            let members = Set(knot)
            guard let first = knot.min() else { return nil }
            return shortestCycle(through: first, within: members)
        }
        .sorted { $0[0] < $1[0] }
    }

    /// A breadth-first walk from `start` back to itself. In a strongly connected set there is one.
    private func shortestCycle(through start: Int, within members: Set<Int>) -> [Int]? {
        var cameFrom: [Int: Int] = [:]
        var queue = [start]
        var next = 0
        while next < queue.count {
            let service = queue[next]
            next += 1
            for need in needs[service] where members.contains(need) {
                if need == start { return path(to: service, from: start, cameFrom) }
                guard cameFrom[need] == nil else { continue }
                cameFrom[need] = service
                queue.append(need)
            }
        }
        return nil
    }

    private func path(to end: Int, from start: Int, _ cameFrom: [Int: Int]) -> [Int] {
        var path = [end]
        while let last = path.last, last != start, let previous = cameFrom[last] {
            path.append(previous)
        }
        return path.reversed()
    }

    /// Tarjan's algorithm with a stack of its own: a chain of 100,000 must not overflow the
    /// thread's.
    private func knots() -> [[Int]] {
        var search = Search(count: needs.count)
        for root in needs.indices where search.order[root] == nil {
            search.enter(root)
            while let frame = search.frames.last {
                step(frame, &search)
            }
        }
        return search.knots
    }

    private func step(_ frame: Search.Frame, _ search: inout Search) {
        let service = frame.service
        guard frame.nextNeed < needs[service].count else {
            search.leave(service, needsItself: needs[service].contains(service))
            return
        }
        search.frames[search.frames.count - 1].nextNeed += 1
        let need = needs[service][frame.nextNeed]
        if let order = search.order[need] {
            if search.isOnStack[need] { search.low[service] = min(search.low[service], order) }
        } else {
            search.enter(need)
        }
    }

    /// The bookkeeping of the walk, in the words of Tarjan (1972).
    private struct Search {
        struct Frame {
            let service: Int
            var nextNeed = 0
        }
        var order: [Int?]
        var low: [Int]
        var isOnStack: [Bool]
        var stack: [Int] = []
        var frames: [Frame] = []
        var knots: [[Int]] = []
        private var entered = 0

        init(count: Int) {
            order = Array(repeating: nil, count: count)
            low = Array(repeating: 0, count: count)
            isOnStack = Array(repeating: false, count: count)
        }

        mutating func enter(_ service: Int) {
            order[service] = entered
            low[service] = entered
            entered += 1
            stack.append(service)
            isOnStack[service] = true
            frames.append(Frame(service: service))
        }

        mutating func leave(_ service: Int, needsItself: Bool) {
            frames.removeLast()
            if let parent = frames.last?.service { low[parent] = min(low[parent], low[service]) }
            guard low[service] == order[service] else { return }
            var knot: [Int] = []
            while let member = stack.popLast() {
                isOnStack[member] = false
                knot.append(member)
                if member == service { break }
            }
            if knot.count > 1 || needsItself { knots.append(knot) }
        }
    }
}
