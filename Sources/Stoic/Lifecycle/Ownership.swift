/// Who wants a service. What a wanted service needs is wanted too; what nobody wants stops.
extension LifecycleMachine {
    /// The user's wish for `slot` changes, and with it everything below.
    /// - Returns: The services that nobody wants any more. The caller stops them.
    mutating func own(_ slot: Int, byUser: Bool) -> [Int] {
        var unwanted: [Int] = []
        var owners = nodes[slot].owners
        owners.user = byUser
        var changed: [Int] = []
        if setOwners(slot, owners) { changed.append(slot) }
        while let next = changed.popLast() {
            let step = nodes[next].isWanted ? 1 : -1
            for need in nodes[next].needs {
                var owners = nodes[need].owners
                owners.dependents += step
                if setOwners(need, owners) { changed.append(need) }
            }
            if !nodes[next].isWanted { unwanted.append(next) }
        }
        return unwanted
    }

    /// `slots` and all that is reached from them, breadth first, each once.
    /// - Complexity: O(services reached + edges followed).
    func closure(of slots: [Int], over neighbours: (Int) -> [Int]) -> [Int] {
        var reached: [Int] = []
        var seen: Set<Int> = []
        for slot in slots where seen.insert(slot).inserted { reached.append(slot) }
        var next = 0
        while next < reached.count {
            for neighbour in neighbours(reached[next]) where seen.insert(neighbour).inserted {
                reached.append(neighbour)
            }
            next += 1
        }
        return reached
    }
}
