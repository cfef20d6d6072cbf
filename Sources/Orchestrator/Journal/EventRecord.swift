/// One thing the engine did, saw or decided: a line of `events.jsonl`, a row of `events`.
public struct EventRecord: Sendable, Equatable {
    /// Its own number: grows within one engine, never reused there.
    public var id: UInt64
    /// The event it follows from, if one is known.
    public var cause: UInt64?
    /// When it happened on the wall clock, in nanoseconds since 1970. Only ever printed.
    public var wallNanoseconds: Int64
    /// When it happened on `CLOCK_MONOTONIC`, in nanoseconds. For distances between events.
    public var monotonicNanoseconds: Int64
    /// What happened, as a stable dotted name: `service.ready`.
    public var name: String
    /// The service it is about; `nil` for the project.
    public var service: String?
    /// The launch it is about, if one exists.
    public var incarnation: UInt64?
    /// How much attention it deserves.
    public var level: EventLevel
    /// Its particulars, in the order they should be shown. A key occurs once.
    public var fields: [(String, FieldValue)]
    /// One sentence for people.
    public var message: String

    /// A record with no cause, no service and no fields until they are set.
    public init(
        id: UInt64, name: String, level: EventLevel = .info, message: String = "",
        at moment: (wall: Int64, monotonic: Int64) = (0, 0)
    ) {
        self.id = id
        cause = nil
        wallNanoseconds = moment.wall
        monotonicNanoseconds = moment.monotonic
        self.name = name
        service = nil
        incarnation = nil
        self.level = level
        fields = []
        self.message = message
    }

    public static func == (left: EventRecord, right: EventRecord) -> Bool {
        left.id == right.id && left.cause == right.cause
            && left.wallNanoseconds == right.wallNanoseconds
            && left.monotonicNanoseconds == right.monotonicNanoseconds
            && left.name == right.name && left.service == right.service
            && left.incarnation == right.incarnation && left.level == right.level
            && left.message == right.message
            && left.fields.elementsEqual(right.fields) { $0.0 == $1.0 && $0.1 == $1.1 }
    }
}

/// How much attention an event deserves. Ordered.
public enum EventLevel: String, Sendable, CaseIterable, Comparable {
    /// Of use when looking for a fault of ours.
    case debug
    /// The ordinary course of things.
    case info
    /// Ordinary, and worth knowing: a restart, a forced stop that was asked for.
    case notice
    /// Something is not as it should be, and the engine copes.
    case warning
    /// Something failed.
    case error

    public static func < (left: EventLevel, right: EventLevel) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .notice: 2
        case .warning: 3
        case .error: 4
        }
    }
}

/// The value of one particular of an event. What JSON can say, without objects.
public enum FieldValue: Hashable, Sendable {
    /// Text.
    case text(String)
    /// A whole number.
    case integer(Int64)
    /// Any other number; NaN and the infinities are written as `null`.
    case number(Double)
    /// Yes or no.
    case flag(Bool)
    /// Several values, in order.
    case list([FieldValue])
    /// Known to be absent.
    case none
}

extension FieldValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByFloatLiteral, ExpressibleByArrayLiteral
{
    /// Text.
    public init(stringLiteral value: String) { self = .text(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Yes or no.
    public init(booleanLiteral value: Bool) { self = .flag(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Several values, in order.
    public init(arrayLiteral elements: FieldValue...) { self = .list(elements) }
}
