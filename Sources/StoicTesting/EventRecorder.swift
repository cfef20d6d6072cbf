public import Stoic
import Synchronization

/// Keeps every event, for a test to look at; at most 100,000, the first ones.
public final class EventRecorder: Instrumentation {
    /// The most it keeps.
    public static let capacity = 100_000

    private let recorded = Mutex<(events: [Event], dropped: Int)>(([], 0))

    /// An empty recorder.
    public init() {}

    /// Takes one event; never waits.
    public func record(_ event: Event) {
        recorded.withLock { recorded in
            if recorded.events.count < Self.capacity {
                recorded.events.append(event)
            } else {
                recorded.dropped += 1
            }
        }
    }

    /// Everything so far, in order.
    public var events: [Event] { recorded.withLock { $0.events } }

    /// The names so far, in order.
    public var names: [String] { events.map(\.name.text) }

    /// How many came when it was full.
    public var dropped: Int { recorded.withLock { $0.dropped } }

    /// Forgets everything: what comes next is a trace of its own.
    public func clear() { recorded.withLock { $0 = ([], 0) } }
}
