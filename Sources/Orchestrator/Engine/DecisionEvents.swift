import Stoic

/// The numbers of the events that reported the latest decisions, so that an event can name its
/// cause.
struct DecisionEvents {
    /// As many as the journal keeps in memory.
    private static let capacity = 4_096
    private var entries: [(decision: DecisionID, event: UInt64)?] = Array(
        repeating: nil, count: capacity)

    subscript(decision: DecisionID) -> UInt64? {
        get {
            let entry = entries[Int(decision.number % UInt64(Self.capacity))]
            return entry?.decision == decision ? entry?.event : nil
        }
        set {
            entries[Int(decision.number % UInt64(Self.capacity))] = newValue.map {
                (decision, $0)
            }
        }
    }
}
