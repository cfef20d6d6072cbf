/// Hears every decision of every primitive.
///
/// `record` is called on whatever task decided, never under a lock of Stoic's. It must return soon
/// and cannot fail: a sink that writes somewhere slow keeps a bounded buffer and drops.
///
/// ```swift
/// struct Names: Instrumentation {
///     let heard: @Sendable (String) -> Void
///     func record(_ event: Event) { heard(event.name.text) }
/// }
/// ```
public protocol Instrumentation: Sendable {
    /// Events below this level need not be made at all.
    var minimumLevel: Event.Level { get }
    /// Takes one event. An event that is caused from within is dropped.
    func record(_ event: Event)
    /// Waits until everything reported so far is where it belongs, at most for `limit`; called
    /// before a process ends.
    /// - Returns: Whether it is.
    @discardableResult
    nonisolated(nonsending) func flush(within limit: Duration) async -> Bool
}

extension Instrumentation {
    /// Events below it need not be made.
    public var minimumLevel: Event.Level { .debug }
    /// Waits until everything reported so far is written, at most for `limit`.
    @discardableResult
    public nonisolated(nonsending) func flush(within limit: Duration) async -> Bool { true }
}

/// Hears nothing.
public struct SilentInstrumentation: Instrumentation {
    /// The one there is to be.
    public init() {}
    /// No event reaches it.
    public var minimumLevel: Event.Level { .error }
    /// Drops the event.
    public func record(_ event: Event) {}
}

/// Whether the current task is inside of a sink.
private enum Recording {
    @TaskLocal static var isUnderWay = false
}

/// Reports a decision to the current task's instrumentation, or to that of `context`.
func emit(
    _ name: EventName, _ level: Event.Level, _ fields: @autoclosure () -> [Event.Field] = [],
    in context: Context = .current
) {
    let instrumentation = context.ambient.instrumentation
    guard level >= instrumentation.minimumLevel, !Recording.isUnderWay else { return }
    let event = Event(
        name, level, fields(), scopePath: context.path?.labels ?? [], at: context.ambient.clock.now)
    // What the sink decides about itself must not come back to it.
    Recording.$isUnderWay.withValue(true) { instrumentation.record(event) }
}

extension EventName {
    /// Time was stolen from the process and left out of the liveness clock. Field: `for`.
    public static let livenessPaused = EventName("liveness.paused")
    /// A sink dropped events, because its destination was slow or failed. Field: `events`. Sinks
    /// write it themselves; nobody else hears it.
    public static let instrumentationDropped = EventName("instrumentation.dropped")
}
