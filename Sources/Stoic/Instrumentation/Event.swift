/// One decision of a primitive, as a value.
public struct Event: Sendable {
    /// What was decided; the name is part of the API.
    public let name: EventName
    /// How much it matters.
    public let level: Level
    /// The details, in a fixed order.
    public let fields: [Field]
    /// The labels of the scopes, supervisors and services around the work, the outermost first.
    public let scopePath: [String]
    /// When, on the ambient clock.
    public let instant: AnyClock.Instant

    /// An event as a primitive would report it.
    public init(
        _ name: EventName, _ level: Level, _ fields: [Field] = [], scopePath: [String] = [],
        at instant: AnyClock.Instant
    ) {
        self.name = name
        self.level = level
        self.fields = fields
        self.scopePath = scopePath
        self.instant = instant
    }

    /// How much an event matters: a decision is `info`, a degradation `notice` or `warning`, a
    /// defect `error`.
    public enum Level: Int, Comparable, Hashable, Sendable, CaseIterable {
        /// From what only a developer needs, to what is broken.
        case debug, info, notice, warning, error

        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// One detail of an event.
    public struct Field: Hashable, Sendable {
        /// What the value means.
        public let key: String
        /// The value.
        public let value: Value
        /// Whether it must not be written down: every sink shows `<redacted>` in its place.
        public let isSecret: Bool

        /// - Parameters:
        ///   - key: What the value means.
        ///   - value: The value.
        ///   - secret: Whether it must not be written down.
        public init(_ key: String, _ value: Value, secret: Bool = false) {
            self.key = key
            self.value = value
            isSecret = secret
        }

        /// A field that holds how `value` describes itself.
        public init(_ key: String, describing value: some Any, secret: Bool = false) {
            self.init(key, .text(String(describing: value)), secret: secret)
        }

        /// A field that holds a duration.
        public init(_ key: String, _ value: Duration) { self.init(key, .duration(value)) }
        /// A field that holds a whole number.
        public init(_ key: String, _ value: Int) { self.init(key, .integer(value)) }
        /// A field that holds text.
        public init(_ key: String, _ value: String) { self.init(key, .text(value)) }
    }

    /// The kinds of value a detail may have.
    public enum Value: Hashable, Sendable {
        /// Words.
        case text(String)
        /// A whole number.
        case integer(Int)
        /// A number.
        case number(Double)
        /// A time.
        case duration(Duration)
        /// Yes or no.
        case flag(Bool)
    }
}

/// The name of an event: `noun.verb` words, stable over minor versions.
public struct EventName: Hashable, Sendable, CustomStringConvertible {
    /// The name as sinks write it.
    public let text: String

    /// A name of your own; take care that it is not one of Stoic's.
    public init(_ text: String) { self.text = text }

    /// The name as sinks write it.
    public var description: String { text }
}
