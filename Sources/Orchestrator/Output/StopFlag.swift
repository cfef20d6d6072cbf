import Synchronization

/// Tells a thread of the pool that nobody waits for its work any more.
final class StopFlag: Sendable {
    private let flag = Atomic<Bool>(false)

    /// Whether it was set, by any thread.
    var isSet: Bool { flag.load(ordering: .relaxed) }

    /// For good.
    func set() { flag.store(true, ordering: .relaxed) }
}
