/// Since when a signal was heard in a tree, in clock ticks since boot.
struct SignalReach {
    /// When it went to the group of the launched process.
    var group: UInt64?
    /// When it went to the whole tree.
    var tree: UInt64?

    /// Whether a process was there in time to hear it. One that started in the same tick counts as
    /// late: hearing a signal twice is less bad than never.
    func includes(startTime: UInt64, isInGroup: Bool) -> Bool {
        if let tree, startTime < tree { return true }
        guard isInGroup, let group else { return false }
        return startTime < group
    }
}
