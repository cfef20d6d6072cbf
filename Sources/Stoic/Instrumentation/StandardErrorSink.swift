/// The default sink: one line on standard error for each event of its level or above.
///
/// Under a journal (`JOURNAL_STREAM` names this very descriptor) each line begins with its
/// priority, `<5>`, as `sd-daemon(3)` describes. The lines are written in the background.
///
/// ```swift
/// await withAmbient { $0.instrumentation = StandardErrorSink(from: .info) } operation: {
///     await scanAll()
/// }
/// ```
public struct StandardErrorSink: Instrumentation {
    /// The sink of a process that chose none: notices and worse.
    public static let shared = StandardErrorSink(from: .notice)

    /// Events below it need not be made.
    public let minimumLevel: Event.Level
    private let format: EventText
    private let writer: BackgroundWriter

    /// - Parameter level: The lowest level it writes.
    public init(from level: Event.Level) {
        let stream = BackgroundWriter.environment("JOURNAL_STREAM")
        let isJournal = stream != nil && stream == BackgroundWriter.identity(of: 2)
        self.init(from: level, descriptor: 2, isJournal: isJournal)
    }

    init(from level: Event.Level, descriptor: Int32, isJournal: Bool) {
        minimumLevel = level
        let format = EventText(showsPriority: isJournal)
        self.format = format
        writer = BackgroundWriter("standard error") { count in
            Array(format.dropped(count).utf8)
        } write: { line in
            BackgroundWriter.write(line, to: descriptor)
        }
    }

    /// Takes one event; never waits.
    public func record(_ event: Event) { writer.enqueue(Array(format.line(event).utf8)) }

    /// Waits until everything reported so far is written, at most for `limit`; default 500 ms.
    /// - Returns: Whether it is.
    @discardableResult
    public nonisolated(nonsending) func flush(within limit: Duration = .milliseconds(500)) async
        -> Bool
    {
        await writer.flush(within: limit)
    }
}

/// Writes events as JSON, one object a line: `{"event":"retry.gaveUp","level":"notice",…}`.
///
/// ```swift
/// let sinks = InstrumentationFanOut([StandardErrorSink(from: .notice), JSONLinesSink(to: 3)])
/// ```
public struct JSONLinesSink: Instrumentation {
    /// Events below it need not be made.
    public let minimumLevel: Event.Level
    private let writer: BackgroundWriter

    /// - Parameters:
    ///   - descriptor: Where to. It stays the caller's, and must stay open as long as the sink is
    ///     used.
    ///   - level: The lowest level it writes.
    public init(to descriptor: Int32, from level: Event.Level = .debug) {
        minimumLevel = level
        writer = BackgroundWriter("descriptor \(descriptor)") { count in
            Array(EventJSON.dropped(count).utf8)
        } write: { line in
            BackgroundWriter.write(line, to: descriptor)
        }
    }

    /// Takes one event; never waits.
    public func record(_ event: Event) { writer.enqueue(Array(EventJSON.line(event).utf8)) }

    /// Waits until everything reported so far is written, at most for `limit`; default 500 ms.
    /// - Returns: Whether it is.
    @discardableResult
    public nonisolated(nonsending) func flush(within limit: Duration = .milliseconds(500)) async
        -> Bool
    {
        await writer.flush(within: limit)
    }
}

/// Hands every event to several sinks.
public struct InstrumentationFanOut: Instrumentation {
    private let sinks: [any Instrumentation]

    /// - Parameter sinks: Each gets the events of its own level or above, in this order.
    public init(_ sinks: [any Instrumentation]) { self.sinks = sinks }

    /// Events below it need not be made.
    public var minimumLevel: Event.Level { sinks.map(\.minimumLevel).min() ?? .error }

    /// Takes one event; never waits.
    public func record(_ event: Event) {
        for sink in sinks where event.level >= sink.minimumLevel { sink.record(event) }
    }

    /// Flushes one after the other, each within `limit`.
    @discardableResult
    public nonisolated(nonsending) func flush(within limit: Duration) async -> Bool {
        var isDone = true
        for sink in sinks {
            let isFlushed = await sink.flush(within: limit)
            isDone = isDone && isFlushed
        }
        return isDone
    }
}

/// Hands on the events that a rule lets through.
public struct InstrumentationFilter: Instrumentation {
    private let next: any Instrumentation
    private let lets: @Sendable (Event) -> Bool

    /// - Parameters:
    ///   - next: Who gets what passes.
    ///   - lets: Whether an event passes. It must be quick.
    public init(_ next: any Instrumentation, where lets: @escaping @Sendable (Event) -> Bool) {
        self.next = next
        self.lets = lets
    }

    /// Events below it need not be made.
    public var minimumLevel: Event.Level { next.minimumLevel }

    /// Takes one event; never waits.
    public func record(_ event: Event) { if lets(event) { next.record(event) } }

    /// Waits until everything reported so far is written, at most for `limit`.
    @discardableResult
    public nonisolated(nonsending) func flush(within limit: Duration) async -> Bool {
        await next.flush(within: limit)
    }
}
