public import Stoic
import Synchronization

/// Keeps every event, for a test to look at.
public final class EventRecorder: Instrumentation {
    private let recorded = Mutex<[Event]>([])

    /// An empty recorder.
    public init() {}

    /// Takes one event; never waits.
    public func record(_ event: Event) { recorded.withLock { $0.append(event) } }

    /// Everything so far, in order.
    public var events: [Event] { recorded.withLock { $0 } }

    /// The names so far, in order.
    public var names: [String] { events.map(\.name.text) }
}
